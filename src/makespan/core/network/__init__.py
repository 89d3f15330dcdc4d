"""Networks: machines and routers, the links between them, and the routes over them."""
