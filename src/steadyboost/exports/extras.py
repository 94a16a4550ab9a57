"""What to install for what is missing."""

_EXTRAS = {"onnx": "onnx", "skl2onnx": "onnx", "shap": "shap", "treelite": "treelite"}


def explained(error: ModuleNotFoundError, what: str) -> ImportError:
    """An error that names the extra that has the library; the same where it is none of them."""
    library = (error.name or "").partition(".")[0]
    if library not in _EXTRAS:
        return error
    remedy = f"install it by: pip install 'steadyboost[{_EXTRAS[library]}]'"
    return ImportError(f"{what} needs the library {library}; {remedy}", name=library)
