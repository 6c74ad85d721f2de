"""From JSON CAS to XMI, by dkpro-cassis, which reads the types of features that XMI needs."""

from caspr.errors import FormatError, InputError


def xmi_of_json(data: bytes, source: str) -> bytes:
    """Return a JSON CAS as XMI, with all its layers."""
    try:
        from cassis import load_cas_from_json  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(
            f"{source}: found a CAS in JSON, which must become XMI, and that needs dkpro-cassis: install it "
            "with `pip install dkpro-cassis`, or export it with the format UIMA CAS XMI (XML 1.0)"
        ) from None
    try:
        text = load_cas_from_json(data.decode("utf-8-sig")).to_xmi()
    except Exception as error:
        # The library has no root class for what it cannot read.
        raise FormatError(
            source, None, f"a CAS that cannot become XMI ({error})", "a CAS of INCEpTION"
        ) from error
    return str(text).encode("utf-8")
