"""Chat logs and e-mails as calls whose words need no recogniser.

file --> formats/ --> messages --> message_store --> conversation: who is who, and when --> publisher --> bus
"""
