"""The network and its training. Needs the extra `finetune`."""
