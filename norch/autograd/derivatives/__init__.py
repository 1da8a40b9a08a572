"""The derivatives of operations, one class each."""
