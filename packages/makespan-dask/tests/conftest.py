"""What all tests of the repository have."""

from tests.conftest import (
    form,
    pytest_collection_finish,
    pytest_collection_modifyitems,
    usual_signals,
)

__all__ = ["form", "pytest_collection_finish", "pytest_collection_modifyitems", "usual_signals"]
