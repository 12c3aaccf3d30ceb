"""A key and a certificate for one run: no name is in it, the nodes get it with their task and trust no other."""

from __future__ import annotations

import datetime
import ssl
import tempfile
from pathlib import Path

_VALID = datetime.timedelta(days=30)


def server_context() -> tuple[ssl.SSLContext, str]:
    """The context of a TLS 1.3 server, and its certificate (PEM). The key is nowhere kept but in the context."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "outcrop")])
    at = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # The clocks of the nodes are their own.
        .not_valid_before(at - _VALID)
        .not_valid_after(at + _VALID)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    secret = key.private_bytes(encoding, form, serialization.NoEncryption())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # The standard library reads them from files only; a folder of mkdtemp is for us alone.
    with tempfile.TemporaryDirectory(prefix="outcrop-") as folder:
        path = Path(folder, "both.pem")
        path.touch(mode=0o600)
        path.write_bytes(secret + pem)
        context.load_cert_chain(path)
    return context, pem.decode()
