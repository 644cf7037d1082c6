"""What was said in the chats of the pictures of the history.

Each begins with its title and how many days ago it was used last. A line with `>` is a message, `<` a reply, `?` what a
reply looked up in the history before its text. `---` begins a context window: how, and what the one before had cost.
"""

from typing import Final

TRIP: Final = """\
Trip to Kyoto | 0
> Help me plan five days in Kyoto in November, for my mother and me. She is 78 and can't walk far.
< With pleasure. At 78 I would plan one sight before lunch and one after, a taxi for every hill, and a hotel near \
the river: it is flat there, and the buses are close.
> She would like to see the Golden Pavilion, she has had a picture of it in her kitchen for forty years.
< Then that is the first morning. Kinkaku-ji opens at nine; be there at a quarter to. The path round the pond is \
gravel, about 600 metres, with benches halfway.
> Is there a garden where one can simply sit?
< Shisen-dō. You sit on the tatami and look out; nobody hurries anybody. A taxi takes you to the gate, but there are \
twenty steps. Murin-an has none.
> Which hotel would you take?
< One with a lift and breakfast in the house. Between Sanjō and Shijō, on the west side of the river, you are ten \
minutes by taxi from everything on your list.
> How much money shall I put aside for taxis?
< Six rides a day at about 1,500 yen: 45,000 yen for the five days, and a little more if it rains.
> She asks whether it will be cold.
< In the middle of November 16 degrees by day and 7 at night. A coat, a scarf, and shoes that are off quickly.
--- reset 61400
> New plan: I'm going alone. Four days, 10 to 13 November. I get up early, I like to walk, and I don't like crowds.
< Then let us turn the day round: temples at dawn, hills before noon, a long lunch, and the city when its lamps are \
lit. I would stay in the north, at Demachiyanagi, where trains leave for Kurama and Eizan.
> What does the walk from Kurama to Kibune ask of me?
< Two hours with pauses, 350 metres up and down again, roots instead of steps near the top. Take the train at seven; \
by ten the first groups come.
> And where do I eat afterwards?
< In Kibune the platforms over the river are closed by November, but Hirobun has its rooms open. Otherwise go back \
to Demachiyanagi: the noodle shop by the bridge needs no booking.
> Is the Philosopher's Path worth it?
< At half past six in the morning, yes: two kilometres along the canal, from Ginkaku-ji down to Nanzen-ji, with cats \
and nobody else. After nine, no.
> I want one evening with music. What is there?
< On the 11th a recital for shakuhachi in the small hall at Okazaki, and jazz every night in a cellar in Ponto-chō. \
The recital has to be booked; the cellar has twelve chairs.
> Book nothing yet. What about the train from Osaka airport?
< The Haruka takes 80 minutes to Kyoto Station. From there the Karasuma line and a change at Imadegawa bring you \
north in half an hour.
> I'm allergic to buckwheat. Remember that.
< That rules out soba, and tea houses that serve soba-cha without saying so. I'll name the word in Japanese wherever \
you eat: そば, soba.
--- rollover 96200
> Now the temples. Which ones are worth getting up early for?
< Four, in this order: Tōfuku-ji, because its maples are at their best that week and its gate opens at half past \
eight; Nanzen-ji, whose grounds never close; Kōtō-in in Daitoku-ji; and Ryōan-ji, where you sit before fifteen \
stones and count fourteen.
> I don't want Kinkaku-ji. It is full at any hour.
< Out it goes. You lose a picture that you know already.
> What about the moss temple, Saihō-ji?
< It takes a booking weeks ahead, 4,000 yen, and an hour of copying a sutra before you see any moss. Hōnen-in has \
moss too, and asks for nothing.
> Then not that one. Enryaku-ji on the mountain?
< A wonderful temple, but half a day by cable car and bus, and the forest is at its best in fog, which nobody can \
book. With four days I would leave it.
> Agreed, no Enryaku-ji. How long do I need for Daitoku-ji?
< Two hours, if you see three of its temples: Kōtō-in for the maples, Daisen-in for the stones, Zuihō-in because \
nobody goes there. Photographs aren't allowed in Daisen-in.
> Which of them has a good tea house?
< Murin-an, though it is a villa rather than a temple: matcha on the veranda, the hills behind the garden. They \
serve no soba-cha.
> Put Tōfuku-ji on the first morning, then, and Nanzen-ji on the second.
< Done: Tōfuku-ji on the 10th, Nanzen-ji on the 11th with the Philosopher's Path before it, Daitoku-ji on the 12th. \
The 13th is free until your train.
> And one temple at night?
< Kōdai-ji is lit in November, and the bamboo behind it too. Go at nine: they let people in until half past.
--- rollover 97800
> Which temples did we rule out?
? temple
< You ruled out three, all on the same evening:

| left out | why |
|---|---|
| Kinkaku-ji | full at any hour |
| Saihō-ji | a booking weeks ahead, and 4,000 yen |
| Enryaku-ji | half a day, too much for a trip of four |
> Then the 13th: something quiet before my train at two.
< Ryōan-ji, at eight sharp. Sit on the left end of the veranda: from there you see the stones and the old wall \
behind them. By half past nine you are back at the hotel, and there is time for a bath.
"""

OTHERS: Final = (
    """\
Reading list: Japan | 1
> Three novels to read before I go to Kyoto, please. Not too long.
< The Old Capital by Kawabata, for the seasons of the city. The Temple of the Golden Pavilion by Mishima, for a monk \
who can't bear its beauty. And Soseki's Kokoro, which has little Kyoto in it, but which you will not forget.
> And one book of essays?
< In Praise of Shadows by Tanizaki: eighty pages on lacquer, paper and darkness. Read what he says of temple \
kitchens.
""",
    """\
Thesis, chapter 2 | 2
> Does my second chapter need the section on guild records?
< It does, but half as long. Keep the table of 1674 and the quarrel over the bell; the rest repeats chapter 1.
> The examiner will ask about the temple inventories.
< Then say in one sentence why you leave them out: they list what was owned, and you write about what was made.
""",
    """\
Sourdough, second try | 3
> My loaf is flat again. What did I do wrong?
< Probably nothing but patience: at 19 degrees your dough needs seven hours, not four.
""",
    """\
Letter to the landlord | 5
> Help me write to my landlord about the window that doesn't close.
< Of course. Here is a friendly version, with a date by which you expect an answer.
""",
    """\
Birthday for Anna | 9
> Ideas for Anna's fortieth birthday? She likes stones, tea and early mornings.
< A breakfast by the lake, and a print of the stone garden of Ryōan-ji, the temple she told you of.
""",
)

FILES: Final = {
    "Plan.md": """\
# Four days in Kyoto

We sleep at the Ryokan Kamogawa.

| day | before lunch | after lunch |
|---|---|---|
| 10 November | Tōfuku-ji, at half past eight | Kennin-ji |
| 11 November | Philosopher's Path, Nanzen-ji | the recital at Okazaki |
| 12 November | Daitoku-ji | Kinkaku-ji |
| 13 November | Ryōan-ji, at eight | the train at two |
""",
    "Hotels.txt": """\
Ryokan Kamogawa: baths, breakfast in the room, stairs
Hotel Sanjō: a lift, breakfast in the house
Guest house Demachi: cheap, a kitchen, no lift
""",
    "Food.md": """\
# Where to eat

No buckwheat! In Japanese: そば, soba.

- The noodle shop by the bridge (udon only)
- Hirobun in Kibune
""",
    "letters/To Mother.txt": "Dear Mother,\n\nthe maples are red. I sit before fifteen stones and count fourteen.\n",
}
"""What lies in the folder of the trip."""

NOTES: Final = ("No buckwheat: ask in every tea house.", "The recital has to be booked.")
LATE_NOTE: Final = "The hotel has a lift."
TYPED: Final = "- Shoes that are off quickly.\n"
MEMORIES: Final = {
    "/memories/workspace/train times.md": "- Haruka from the airport: 80 minutes\n- Home: the 13th, at two\n",
    "/memories/global/about me.md": "- I get up early.\n- I am allergic to buckwheat.\n",
    "/memories/global/how I like answers.md": "- Short. A table where things are compared.\n",
}
PLANNER: Final = """\
You plan trips for somebody who gets up early and walks a lot. One sight before lunch, one after.
Say what has to be booked, and by when. Write prices in yen."""
