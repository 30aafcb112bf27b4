"""The assistant on the web: a page for shoppers without a sign-in, its API, and a widget for shops' own pages.

    browser --> api, socket --> conversations --> bus (a call of medium chat, its lines)
       ^                            |
       +-- turns, cards ------------+<-- the feed's follower (what the assistant, or a person, answered)

Nothing is kept here: a conversation is what the bus holds of it, and its token says where that begins. So any process
goes on with it, also after a restart. A token opens its own conversation and nothing of the dashboard.
"""
