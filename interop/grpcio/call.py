"""One unary call by grpcio: call.py TARGET ENCODING/SERVICE/METHOD REQUEST. Request and response are bytes in hex."""

import sys

import grpc

COMPRESSIONS = {"gzip": grpc.Compression.Gzip, "deflate": grpc.Compression.Deflate}

target, path, request = sys.argv[1:]
encoding, _, method = path.partition("/")
with grpc.insecure_channel(target, compression=COMPRESSIONS[encoding]) as channel:
    try:
        print(channel.unary_unary(f"/{method}")(bytes.fromhex(request), timeout=20).hex())
    except grpc.RpcError as error:
        print(error.code().name, error.details())
