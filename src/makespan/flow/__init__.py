"""The verbs: they dispatch by kind and know no algorithm."""
