"""What models learn from: our own sentences in finetune/data, public sets, and which of them teach which head."""
