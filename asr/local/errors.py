"""A request that cannot be served, with the status and the words Riva's clients know."""

from __future__ import annotations

from collections.abc import Sequence

import grpc

LONGEST_TEXT = 2000
"""It may quote what was sent, and travels in a header."""


class ApiError(Exception):
    """Ends one request with a gRPC status; never anything more than that request."""

    def __init__(self, code: grpc.StatusCode, text: str, trailers: Sequence[tuple[str, str]] = ()) -> None:
        text = text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 4]} ..."
        super().__init__(text)
        self.code = code
        self.text = text
        self.trailers = tuple(trailers)


def invalid(text: str) -> ApiError:
    return ApiError(grpc.StatusCode.INVALID_ARGUMENT, text)


def header_mismatch() -> ApiError:
    return invalid("Error: config format doesn't match with header format")


def only_mono() -> ApiError:
    return invalid("Only mono audio supported.")


def too_many_channels(channels: int) -> ApiError:
    return invalid(f"at most 8 channels of a stream are served, got {channels}")


def rate_out_of_range(rate: int) -> ApiError:
    return invalid(f"sample_rate_hertz must be between 8000 and 96000, got {rate}")


def unavailable_model(language: str, rate: int, kind: str, model: str, available: Sequence[str]) -> ApiError:
    """Riva's own sentence (its trailing space is real), then what would have worked."""
    wanted = f"language_code={language}; sample_rate={rate}; type={kind}; "
    if model:
        wanted += f"model={model}; "
    text = f"Error: Unavailable model requested given these parameters: {wanted}"
    return invalid(f"{text}Available: {', '.join(available) or 'none'}")


def busy(text: str, retry_ms: int) -> ApiError:
    return ApiError(grpc.StatusCode.RESOURCE_EXHAUSTED, text, (("retry-after-ms", str(retry_ms)),))


def idle(seconds: float, what: str = "audio") -> ApiError:
    return ApiError(grpc.StatusCode.DEADLINE_EXCEEDED, f"no {what} received for {seconds:g} s")


def unavailable(text: str) -> ApiError:
    return ApiError(grpc.StatusCode.UNAVAILABLE, text)


def unimplemented(text: str) -> ApiError:
    return ApiError(grpc.StatusCode.UNIMPLEMENTED, text)
