"""The engine's own texts, where the flows give none under `patterns: replies:`. Written to be spoken."""

from __future__ import annotations

from typing import Final

from dialog.flow.template import Template

_TEXTS: Final[dict[str, tuple[str, ...]]] = {
    "back_to": ("Back to {{topic}}: {{question}}",),
    "dropped": ("I'll leave {{topic}} aside for now.",),
    "nothing_to_repeat": ("I haven't said anything yet.",),
    "cancelled": ("All right, I've dropped that. Just ask when you need something else.", "Okay, forgotten."),
    "nothing_to_cancel": ("All right. Just ask when you need something.",),
    "started_over": ("Okay, let's start afresh. What would you like to know?",),
    "help": (
        "You can ask me about the weather in a city, where to find a store or a restaurant, what something costs, "
        'and whether it is in stock. For example: "Will it rain in Boston tomorrow?" Say "a person" at any time.',
    ),
    "goodbye": ("Goodbye, and thanks for stopping by.", "Bye, have a good day."),
    "wait": ("Take your time.", "Sure, I'll wait."),
    "go_on": ("Go ahead, what would you like to know?", "Yes? What would you like to know?"),
    "alright": ("All right.", "Okay."),
    "greeting": ("Hello! What can I look up for you?",),
    "thanks": ("You're welcome.", "Happy to help."),
    "how_are_you": ("I'm fine, thank you. Ask me about the weather, stores, prices or stock.",),
    "who_are_you": ("I'm NARA, an automatic assistant for shopping and the weather.",),
    "praise": ("Thank you, that's kind.", "Thanks, glad it helps."),
    "insult": ("I'm sorry this isn't going well. You can ask again in other words, or ask for a person.",),
    "not_understood": (
        "Sorry, I didn't get that. Could you put it another way?",
        'I still don\'t follow. Try something like "how much are running shoes" or "weather in Denver tomorrow".',
        "I'm not getting it. Shall I get you a person?",
    ),
    "person_offer": ("I'm having trouble with this. Shall I get you a person?",),
    "person_coming": ("I'm passing you on to a colleague. One moment, please.",),
    "person_nobody": (
        "I'm sorry, nobody is free to take over right now. You can go on with me here, or try again later for a "
        "person. Which would you like?",
    ),
    "go_on_or_later": ("Shall we go on together, or will you try again later for a person?",),
    "person_no": ("All right, we'll go on together. Just ask.",),
    "person_yes": ("Good. What would you like to know?",),
    "agent_back": ("I'm back with you.",),
    "confirm_again": ("Please say yes or no. {{question}}",),
    "not_done": ("All right, I won't.",),
    "choose": ("Which one do you mean: {{choices}}?",),
    "choose_again": (
        "Please say one of these, or its number: {{choices}}.",
        "Say a name or a number, for example one for the first: {{choices}}.",
    ),
    "choose_intent": ("Do you want to know about {{choices}}?",),
    "unknown_place": ("I don't know a place called {{place}}.", "{{place}} is not a place I know."),
    "only_state": ("{{place}} is a whole state.",),
    "failed": ("I couldn't look that up just now. You can try again, or ask me something else.",),
    "service_error": ("I'm having trouble understanding right now.",),
    "uncertain": ("I'm not sure whether that went through. I'm asking a person to check.",),
    "changed": ("That has gone through already. I can make another one, or get you a person to change it.",),
    "silence": ("Are you still there?", "I haven't heard anything. Just ask when you're ready."),
    "silence_end": ("I'll hang up now. Goodbye, and call again any time.",),
    "resume": ("Welcome back. We were talking about {{topic}}. Shall we go on with that?",),
    "resumed": ("Good.",),
    "too_long": ("That was too long for me. Please put it in a sentence or two.",),
    "no_words": ("I couldn't read that. Please use words, for example: how warm is it in Tucson?",),
    "nothing_heard": ("I'm listening. What would you like to know?",),
    "foreign": ("Sorry, I only understand English.",),
    "loop": ("Something went wrong in here. Let's begin again: what would you like to know?",),
    "no_route": ("I know the way to stores, not from city to city. I can look for a store in {{value}}.",),
    "here": ("I can't see where you are.",),
    "loose_value": ("{{value|title}}: do you want to know the weather, or look for a store or a product?",),
    "loose_item": (
        "What would you like to know about {{value}}: the price, whether it is in stock, or where to get it?",
    ),
    "ask_slot": ("What is the {{slot}}?",),
}

DEFAULT: Final = {name: tuple(Template.parse(text) for text in texts) for name, texts in _TEXTS.items()}
