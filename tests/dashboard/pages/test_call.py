"""The Call page in a real browser: what is said, heard, noted and corrected."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from playwright.sync_api import expect
from sqlmodel import Session, col, select

from storage.queries.people import PeopleTable, store
from storage.summaries import left
from storage.tables import Audit, Call, Label, Note
from tenor.events import CallSummary, ScorePoint, SummaryPoint
from tests.dashboard.conftest import House, Visit
from tests.storage.conversations import add_call

pytestmark = pytest.mark.browser


def test_a_conversation_grows_while_it_is_watched(house: House, visit: Visit) -> None:
    call = house.floor.call("anna", customer="M. Okafor")
    call.says("agent", "How can I help?", "positive", intent="greeting")
    call.written()
    page = visit(house, f"/call?call={call.id}")
    expect(page.get_by_role("heading", name="anna with M. Okafor")).to_be_visible()
    expect(page.locator(".row.right.positive .text")).to_have_text("How can I help?")
    call.interim("caller", "My order num")
    expect(page.locator(".interim .text")).to_have_text("My order num")
    said = call.says(
        "caller", "My order number is wrong.", "negative", intent="complaint", slots={"order_number": "4471"}
    )
    mine = page.locator(f'[data-sentence="{said.sentence}"]')
    expect(mine).to_have_class(re.compile("left negative"))
    expect(mine).to_contain_text("▼ negative")
    expect(mine).to_contain_text("Complaint")
    expect(mine).to_contain_text("Order number 4471")
    expect(mine.locator(".bubble")).to_have_attribute("title", re.compile(r"^620 ms from the end of speech"))
    expect(page.locator(".late")).to_have_text(re.compile(r"On this page \d\.\d\d s after the words, 95 % within"))
    expect(page.locator(".interim")).to_have_count(0)
    call.says("caller", "My order number is wrong, again.", "negative", sentence=said.sentence, revision=1)
    expect(mine.locator(".text")).to_have_text("My order number is wrong, again.")
    call.says("agent", "Monday then, monday it is.", slots={"date": "Monday", "date_2": "monday"})
    expect(page.locator(".meta .chip", has_text="Date")).to_have_text(["Date Monday", "Date monday"])
    call.says("caller", "And where is it now?", intent="order_status")
    call.says("caller", "Thanks, my number is 4471.", intent="thanks", slots={"order_number": "4471"})
    expect(page.locator("aside .chip")).to_have_text(["Order status", "Order number 4471"])  # no small talk, no dates
    page.mouse.move(0, 0)
    expect(mine.get_by_role("button", name="Correct or note")).to_be_visible()  # without the mouse over it
    call.alert("caller_upset", "Caller negative three sentences in a row", "critical", escalation=True)
    expect(page.get_by_text("⚑ Caller upset · step in")).to_be_visible()
    call.metrics(task="order_status", talk_share__caller=0.25, talk_share__agent=0.75, silence_share=0.1)
    expect(page.get_by_text("Caller talks 25 %")).to_be_visible()
    expect(page.locator(".card .task")).to_have_text("Order status")
    assert page.locator("aside .line.caller").get_attribute("d")
    page.get_by_role("button", name="Swap sides").click()
    expect(mine).to_have_class(re.compile("right"))
    expect(page.get_by_text("Caller talks 75 %")).to_be_visible()
    with house.floor.database.session() as session:
        assert session.get(Call, call.id).swapped  # type: ignore[union-attr]
    call.ends("failed", "the recogniser was away for a minute")
    expect(page.get_by_text("This call failed: the recogniser was away for a minute")).to_be_visible()


def test_a_summary_grows_and_an_agent_puts_it_right_with_a_click(house: House, visit: Visit) -> None:
    call = house.floor.call("anna")
    wish = call.says("caller", "I want to send a lamp back, please.", intent="refund")
    call.says("agent", "Which order was it in?", intent="ask_details")
    answer = call.says("caller", "Order four four one.", slots={"number": "four four one"})
    wanted = SummaryPoint(id=f"wanted:{wish.sentence}", kind="wanted", text=wish.text, sentence=wish.sentence)
    detail = SummaryPoint(
        id=f"detail.number:{answer.sentence}", kind="detail", name="number", text="four four one",
        sentence=answer.sentence,
    )  # fmt: skip
    call.metrics(task="refund", summary=CallSummary(headline="Refund", points=(wanted, detail)))
    house.floor.stored(lambda session: bool((found := session.get(Call, call.id)) and found.summary))
    page = visit(house, f"/call?call={call.id}", looks_as="agent:anna")
    card = page.locator(".card.summary")
    expect(card.locator(".sum.wanted")).to_have_text(re.compile("Wanted.*I want to send a lamp back"))
    expect(card.get_by_label("What came of it")).to_have_value("")
    card.get_by_text("I want to send a lamp back").click()
    expect(page.locator(f'[data-sentence="{wish.sentence}"]')).to_be_in_viewport()

    label = call.says("agent", "You will get a label by Friday.", intent="resolution")
    promise = SummaryPoint(
        id=f"promised:{label.sentence}", kind="promised", text=label.text, sentence=label.sentence, by="agent",
        until="by Friday",
    )  # fmt: skip
    found = CallSummary(headline="Refund", outcome="promised", points=(wanted, detail, promise))
    call.metrics(task="refund", summary=found)
    expect(card.locator(".sum.promised")).to_contain_text("Agent · by Friday")
    expect(card.get_by_label("What came of it")).to_have_value("promised")

    card.get_by_label("Put right: four four one").click()
    card.get_by_label("What it should say").fill("441")
    card.get_by_role("button", name="Save").click()
    expect(card.locator(".sum.detail")).to_contain_text("441 ✎")
    card.get_by_label("That is wrong: You will get a label by Friday.").click()
    expect(card.locator(".sum.promised .gone")).to_be_visible()
    card.get_by_label("What came of it").select_option("done")
    card.get_by_label("Wrap-up code").select_option("follow_up")
    call.metrics(task="refund", summary=found)
    house.floor.stored(lambda session: session.get_one(Call, call.id).wrap_up == "follow_up")
    with house.floor.database.session() as session:
        kept = session.get_one(Call, call.id)
        now = left(kept)
        assert (now["outcome"], [point["text"] for point in now["points"]]) == ("done", [wish.text, "441"])
        done = [row.action for row in session.exec(select(Audit).where(col(Audit.subject) == call.id))]
        assert done == [*["summary.mended"] * 3, "call.wrapped_up"]
    of_the_agent = visit(house, "/", looks_as="agent:anna")
    mark = of_the_agent.locator(".summary .mark").first
    expect(mark).to_have_css("border-top-width", "0px")  # as on the Call page
    page.reload()
    expect(card.locator(".sum.detail")).to_contain_text("441 ✎")
    expect(card.get_by_label("Wrap-up code")).to_have_value("follow_up")
    card.get_by_label("Put back: You will get a label by Friday.").click()
    expect(card.locator(".sum.promised .gone")).to_have_count(0)


def test_a_manager_writes_and_the_agent_acknowledges(house: House, visit: Visit) -> None:
    call = house.floor.call("anna")
    said = call.says("caller", "I want my money back.", "negative")
    call.written()
    manager = visit(house, f"/call?call={call.id}", looks_as="manager:mia")
    agent = visit(house, "/", looks_as="agent:anna")
    expect(agent.locator(".lines")).to_contain_text("I want my money back.")
    bubble = manager.locator(f'[data-sentence="{said.sentence}"] .bubble')
    bubble.hover()
    bubble.get_by_label("Correct or note").click()
    manager.get_by_role("button", name="Note to agent").click()
    manager.get_by_label("Note to the agent").fill("Offer <b>free</b> delivery")
    manager.get_by_role("button", name="Send").click()
    expect(agent.locator(".note p")).to_have_text("Offer <b>free</b> delivery")
    expect(agent.locator(".note .quote")).to_have_text("“I want my money back.”")
    expect(manager.locator(".note-pin")).to_have_text("✉ mia: Offer <b>free</b> delivery")
    expect(manager.locator(".note")).to_contain_text("not read yet")
    agent.get_by_role("button", name="Got it").click()
    expect(manager.locator(".note")).to_contain_text("read by anna")
    expect(agent.get_by_role("button", name="Got it")).to_have_count(0)

    def kept(session: Session) -> bool:
        notes = session.exec(select(Note).where(Note.call == call.id)).all()
        return [(note.author, note.sentence, note.acknowledged_by) for note in notes] == [
            ("mia", said.sentence, "anna")
        ]

    house.floor.stored(kept)
    call.ends()


def test_a_scorecard_is_proved_by_sentences_and_counts_once_a_manager_confirmed_it(house: House, visit: Visit) -> None:
    call = house.floor.call("anna")
    hello = call.says("agent", "Good morning, this is Anna.", "positive", intent="greeting")
    call.says("caller", "My parcel is late.", "negative", intent="complaint")
    page = visit(house, f"/call?call={call.id}", looks_as="manager:mia")
    card = page.locator(".scorecard")
    expect(page.locator(".bubble")).to_have_count(2)
    expect(card).to_be_hidden()
    greets = ScorePoint(point="greeted", asks="Greets the caller", value="yes", sentence=hello.sentence)
    sorry = ScorePoint(point="apologised", asks="Says sorry", value="no")
    call.scored(greets, sorry)
    call.ends()
    expect(card).to_contain_text("It counts nowhere until a person confirms it.")
    greeted, apologised = (card.locator(f'[data-point="{name}"]') for name in ("greeted", "apologised"))
    expect(greeted.locator(".quote")).to_have_text("“Good morning, this is Anna.”")
    expect(greeted).to_contain_text("Done, not confirmed")
    greeted.locator(".quote").click()
    expect(page.locator(f'[data-sentence="{hello.sentence}"]')).to_be_in_viewport()
    house.floor.stored(lambda session: bool((row := session.get(Call, call.id)) and row.scorecard))
    apologised.get_by_role("button", name="Not asked for").click()
    expect(apologised).to_contain_text(re.compile("Not asked for, mended by mia"))
    expect(card).to_contain_text("1 not confirmed, which count nowhere")
    card.get_by_role("button", name="Confirm the other 1").click()
    expect(greeted).to_contain_text(re.compile("Done, confirmed by mia"))
    expect(card).to_contain_text("1 of 1 done")
    expect(card.get_by_role("button", name="Confirm")).to_have_count(0)
    mine = visit(house, f"/call?call={call.id}", looks_as="agent:anna")
    expect(mine.locator('.scorecard [data-point="greeted"]')).to_contain_text("confirmed by mia")
    expect(mine.locator(".scorecard .answers")).to_have_count(0)


def test_who_fits_is_suggested_to_a_manager_for_a_call_that_wants_somebody_else(house: House, visit: Visit) -> None:
    with house.floor.database.begin() as session:
        for number in range(70):
            agent, well = (("grace", number % 10 != 0), ("hugo", number % 4 == 0))[number % 2]
            about: dict[str, Any] = {"started_at": time.time() - 3600 - number, "ended_at": time.time() - 1800}
            about |= {"task": "refund", "metrics": {"mood_now.caller": 0.2 if well else -0.5}}
            add_call(session, f"fit-{number}", "hello", "hi", agent=agent, **about)
    call = house.floor.call("anna")
    call.says("caller", "I want my money back.", "neutral", intent="refund")
    call.metrics(task="refund", mood_now__caller=0.0)
    call.alert("caller_upset", "Step in", "critical", escalation=True)
    call.written(alerts=1)
    page = visit(house, f"/call?call={call.id}", looks_as="manager:mia")
    page.get_by_role("button", name="Who fits?").click()
    expect(page.locator(".fit b").first).to_have_text("grace")
    expect(page.locator('.fit[data-agent="grace"]')).to_contain_text("35 calls")
    expect(page.locator(".fits")).to_contain_text("A suggestion: you decide.")
    expect(page.locator('.fit[data-agent="anna"]')).to_have_count(0)  # on a call
    answer = page.request.get(f"{house.address}/api/v1/fits?call={call.id}").json()
    assert [one["agent"] for one in answer["agents"]][:1] == ["grace"]
    assert 0 < answer["agents"][0]["own"]["low"] < answer["agents"][0]["own"]["mean"] < 1
    told = page.request.get(f"{house.address}/api/v1/fits?task=refund&mood=0&agents=hugo,grace").json()
    assert [(one["agent"], one["calls"]) for one in told["agents"]] == [("grace", 35), ("hugo", 35)]
    told = page.request.get(f"{house.address}/api/v1/fits?task=refund&mood=0&agents=hugo,zoe").json()
    assert [one["agent"] for one in told["agents"]] == ["zoe", "hugo"]  # who is new is not behind who did badly
    mine = visit(house, f"/call?call={call.id}", looks_as="agent:anna")
    expect(mine.locator(".bubble")).to_be_visible()
    assert mine.locator(".fits").count() == 0


def test_a_correction_is_shown_with_the_models_answer_under_it(house: House, visit: Visit) -> None:
    call = house.floor.call("anna")
    said = call.says("caller", "Great, just great.", "positive", intent="thanks")
    call.ends("analysed")
    call.written()
    page = visit(house, f"/call?call={call.id}", looks_as="analyst:ada")
    mine = page.locator(f'[data-sentence="{said.sentence}"]')
    mine.locator(".bubble").hover()
    row, tools = (one.bounding_box() for one in (mine, mine.locator(".tools")))
    assert row is not None
    assert tools is not None
    assert tools["y"] >= row["y"], "they are cut off"
    mine.get_by_label("This is negative").click()
    expect(mine.locator(".feeling")).to_have_text("▼ negative")
    expect(mine).to_have_class(re.compile("negative"))
    expect(mine.locator(".model")).to_have_text("✎ ada▲ positive")
    mine.get_by_label("Correct or note").click()
    mine.get_by_label("Intent").select_option("complaint")
    expect(mine.locator(".meta")).to_contain_text("Complaint")
    expect(mine.locator(".model")).to_contain_text("Thanks")
    expect(mine.locator("form")).to_have_count(0)
    mine.locator(".bubble").hover()
    mine.get_by_label("Correct or note").click()
    mine.get_by_role("button", name="Said by agent").click()
    expect(mine).to_have_class(re.compile("right"))
    expect(mine.locator("form")).to_have_count(0)
    mine.locator(".bubble").hover()
    mine.get_by_label("Correct or note").click()
    mine.get_by_label("Text").fill("Great. Just great!")
    mine.get_by_role("button", name="Save text").click()
    expect(mine.locator(".text")).to_have_text("Great. Just great!")
    page.reload()
    expect(mine.locator(".text")).to_have_text("Great. Just great!")
    expect(mine.locator(".model i")).to_have_text(["▲ positive", "Thanks", "Caller", "“Great, just great.”"])
    with house.floor.database.session() as session:
        labels = session.exec(select(Label).where(Label.call == call.id).order_by(col(Label.id))).all()
    kept = [(label.kind, label.value, label.predicted, label.author) for label in labels]
    assert kept == [
        ("sentiment", "negative", "positive", "ada"),
        ("intent", "complaint", "thanks", "ada"),
        ("role", "agent", "caller", "ada"),
        ("text", "Great. Just great!", "Great, just great.", "ada"),
    ]


def test_the_agents_own_label_counts_only_where_nobody_else_made_one(house: House, visit: Visit) -> None:
    call = house.floor.call("anna")
    said = call.says("caller", "That was quick.", "neutral")
    call.ends("analysed")
    call.written()
    for who, told, counts in (("agent:anna", "positive", "▲ positive"), ("analyst:ada", "negative", "▼ negative")):
        mine = visit(house, f"/call?call={call.id}", looks_as=who).locator(f'[data-sentence="{said.sentence}"]')
        mine.locator(".bubble").hover()
        mine.get_by_label(f"This is {told}").click()
        expect(mine.locator(".feeling")).to_have_text(counts)
    page = visit(house, f"/call?call={call.id}", looks_as="agent:anna")
    mine = page.locator(f'[data-sentence="{said.sentence}"]')
    mine.locator(".bubble").hover()
    with page.expect_response(lambda answer: "correct" in answer.url):
        mine.get_by_label("This is positive").click()
    expect(mine.locator(".feeling")).to_have_text("▼ negative")
    page.reload()
    expect(mine.locator(".feeling")).to_have_text("▼ negative")


def test_the_recording_plays_from_the_sentence_clicked(house: House, visit: Visit) -> None:
    call = house.floor.call("anna")
    sentences = [call.says("caller", f"This is sentence number {number} of them.") for number in range(8)]
    call.written(8)
    page = visit(house, f"/call?call={call.id}")
    expect(page.locator(".row")).to_have_count(8)
    call.ends("analysed")
    expect(page.locator(".state")).to_have_text("Over")
    page.wait_for_timeout(2000)  # it has looked once, and there was none yet
    call.recorded(25)
    expect(page.locator(".player")).to_be_visible()
    page.locator(f'[data-sentence="{sentences[5].sentence}"] .bubble').click()
    expect(page.locator(".row.playing")).to_have_attribute("data-sentence", sentences[5].sentence)
    expect(page.locator(".player .time")).to_contain_text("/ 0:25")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("cannot be played")).to_be_hidden()
    at = page.locator("audio").evaluate("audio => audio.currentTime")
    assert sentences[5].start_ms / 1000 - 0.5 < at < sentences[7].start_ms / 1000
    with house.floor.database.session() as session:
        heard = session.exec(select(Audit).where(Audit.subject == call.id, Audit.action == "call.listened")).all()
    assert len(heard) == 1


def test_a_long_call_and_a_chat(house: House, visit: Visit) -> None:
    long = house.floor.call("anna")
    house.floor.publish(*long.many(2000))
    chat = house.floor.call("anna", medium="chat")
    chat.says("caller", "שלום 👋 is anyone there?")
    chat.ends("analysed")
    long.ends("analysed")
    long.written(2000)
    page = visit(house, f"/call?call={long.id}")
    expect(page.locator(".row")).to_have_count(2000)
    page.locator(".scroll").evaluate("list => { list.scrollTop = list.scrollHeight }")
    expect(page.get_by_text("Sentence 1999.", exact=True)).to_be_in_viewport()
    page = visit(house, f"/call?call={chat.id}", phone=True)
    expect(page.get_by_text("שלום 👋 is anyone there?")).to_be_visible()
    expect(page.locator(".row .time")).to_have_text(re.compile(r"^\d\d:\d\d$"))  # the time of day
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_an_agent_sees_only_their_own(house: House, visit: Visit) -> None:
    own, others = house.floor.call("anna"), house.floor.call("ben")
    own.says("caller", "This is for Anna.")
    others.says("caller", "This is for Ben.")
    others.written()
    own.written()
    page = visit(house, f"/call?call={others.id}", looks_as="agent:anna")
    expect(page.get_by_text("There is no such call")).to_be_visible()
    others.says("caller", "And more for Ben.")
    page.wait_for_timeout(500)
    expect(page.get_by_text("for Ben")).to_have_count(0)
    mine = visit(house, "/", looks_as="agent:anna")
    expect(mine.locator(".lines")).to_contain_text("This is for Anna.")
    expect(mine.get_by_role("link", name="Live")).to_have_count(0)
    sent = visit(house, "/operations", looks_as="agent:anna")  # a colleague's link
    expect(sent.get_by_text("Operations is for managers, analysts and administrators")).to_be_visible()
    expect(sent.get_by_role("link", name="Operations")).to_have_count(0)
    own.ends()
    others.ends()


def test_a_call_that_is_not_there(house: House, visit: Visit) -> None:
    page = visit(house, "/call?call=nothing")
    expect(page.get_by_text("There is no such call")).to_be_visible()
    expect(page.locator(".state")).to_be_hidden()


def test_the_list_of_calls_is_narrowed_down_and_the_address_keeps_how(house: House, visit: Visit) -> None:
    floor = house.floor
    store(floor.database, PeopleTable("customer", {"NG-3001": {"display_name": "Ines Prado"}}), "test")
    angry = floor.call("ines", customer="NG-3001", queue="claims")
    angry.says("caller", "Nobody calls me back.", "negative")
    calm = floor.call("omar", queue="claims")
    calm.says("caller", "Thank you so much.", "positive")
    for call in (angry, calm):
        call.metrics(task="delivery_problem")
        call.ends()
        call.written()
    rows = visit(house, "/call?queue=claims").locator(".t-line")
    expect(rows).to_have_count(2)
    page = visit(house, "/call?queue=claims&mood=negative&when=7+days&task=delivery_problem")
    expect(page.locator(".t-line")).to_have_count(1)
    expect(page.locator(".t-line")).to_contain_text("ines with Ines Prado")
    expect(visit(house, "/call?agent=omar").locator(".t-line")).to_contain_text(["omar"])
    expect(visit(house, "/call?customer=NG-3001").locator(".t-line")).to_contain_text(["Ines Prado"])
    page = visit(house, "/call?queue=claims&agent=omar&mood=negative")
    expect(page.get_by_text("No call matches")).to_be_visible()
    page.get_by_role("combobox", name="Caller's mood").click()
    page.get_by_role("option", name="All").click()
    expect(page.locator(".t-line")).to_have_count(1)
    assert "mood" not in page.url
    mine = visit(house, "/call?queue=claims", looks_as="agent:omar")
    expect(mine.locator(".t-line")).to_have_count(1)
    expect(mine.get_by_role("combobox", name="Agent")).to_have_count(0)


def test_the_frame_of_a_short_transcript_ends_with_it(house: House, visit: Visit) -> None:
    call = house.floor.call("nora")
    call.says("caller", "Hello, is anybody there?")
    call.written()
    page = visit(house, f"/call?call={call.id}")
    last, box = page.locator(".bubble").last.bounding_box(), page.locator(".conversation").bounding_box()
    assert last is not None
    assert box is not None
    assert box["y"] + box["height"] - last["y"] - last["height"] < 60
    call.ends()


def test_no_blank_below_the_transcript_beside_longer_cards(house: House, visit: Visit) -> None:
    """It stays in sight while one reads on in the cards."""
    call = house.floor.call("nora")
    for number in range(8):
        call.says("caller" if number % 2 else "agent", f"This is sentence number {number}.")
        call.note(
            f"Note number {number}, which is here so that there is much to read beside the transcript.", author="mia"
        )
    call.written(8)
    page = visit(house, f"/call?call={call.id}")
    expect(page.locator(".bubble")).to_have_count(8)
    expect(page.locator("aside")).to_contain_text("Note number 7")
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 100000)")
    page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop > 200")
    box, cards = page.locator(".conversation").bounding_box(), page.locator("aside").bounding_box()
    assert box is not None
    assert cards is not None
    assert cards["height"] > box["height"] + 200, "the cards are longer"
    assert box["y"] >= 0, "it has not gone away with what was above it"
    call.ends()
