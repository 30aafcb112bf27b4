"""NVIDIA's own client, any version, used as its command line scripts use it."""

import io
import json
import sys

import riva.client


def main(server: str, recording: str, certificate: str | None = None, key: str | None = None) -> None:
    auth = riva.client.Auth(
        certificate,
        certificate is not None,
        server,
        [["authorization", f"Bearer {key}"], ["function-id", "interop"]] if key else None,
    )
    asr = riva.client.ASRService(auth)
    config = riva.client.StreamingRecognitionConfig(
        config=riva.client.RecognitionConfig(
            language_code="en-US",
            max_alternatives=1,
            enable_automatic_punctuation=True,
            verbatim_transcripts=True,
            enable_word_time_offsets=True,
        ),
        interim_results=True,
    )
    riva.client.add_word_boosting_to_config(config, ["Dickens"], 4.0)
    printed = io.StringIO()
    with riva.client.AudioChunkFileIterator(recording, 1600) as chunks:
        responses = list(asr.streaming_response_generator(chunks, config))
    riva.client.print_streaming(responses, printed, additional_info="time", word_time_offsets=True)
    streamed = "".join(
        result.alternatives[0].transcript for response in responses for result in response.results if result.is_final
    )
    with open(recording, "rb") as file:
        whole = asr.offline_recognize(file.read(), riva.client.RecognitionConfig(language_code="en-US"))
    assert "best of times" in "".join(result.alternatives[0].transcript for result in whole.results)
    assert streamed.strip() in printed.getvalue()

    nlp = riva.client.NLPService(auth)
    punctuated = nlp.punctuate_text("can you prove that you are self aware", language_code="en-US")
    assert (
        riva.client.nlp.extract_most_probable_transformed_text(punctuated) == "Can you prove that you are self aware?"
    )
    entities = nlp.classify_tokens(["Jensen Huang called from Boston"], "riva_ner")
    _, labels, *_ = riva.client.nlp.extract_most_probable_token_classification_predictions(entities)
    assert {"PER", "LOC"} <= {*labels[0]}

    speech_s = 0.0
    tts = riva.client.SpeechSynthesisService(auth)
    if tts.stub.GetRivaSynthesisConfig(riva.client.proto.riva_tts_pb2.RivaSynthesisConfigRequest()).model_config:
        text = "Thank you for calling. How can I help you?"
        once = tts.synthesize(text, "English-US.Female-1", "en-US", sample_rate_hz=44100)
        pieces = list(tts.synthesize_online(text, None, "en-US", sample_rate_hz=44100))
        assert b"".join(piece.audio for piece in pieces) == once.audio
        assert len(pieces) > 1
        speech_s = len(once.audio) / 2 / 44100
    print(json.dumps({"transcript": streamed, "speech_s": speech_s}))


if __name__ == "__main__":
    main(*sys.argv[1:])
