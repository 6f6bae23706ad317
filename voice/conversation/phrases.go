package conversation

import "clank/internal/i18n"

// replyStyle is the part of the prompt about spoken answers.
const replyStyle = "This is a voice call: what people say was put into words by a recogniser, which mishears, and " +
	"your answer is spoken aloud. Answer in one to three short sentences of plain spoken language, in the language of " +
	"the person. No Markdown, no lists, no addresses, no emoji; say numbers and times as one says them. Before you use " +
	"a tool, say so in one short sentence or not at all. If a link or a picture is needed, put the link at the end and " +
	"say that it is in the chat: it is written there, not spoken. If a request makes no sense, ask shortly what was meant."

// Phrases that are always the same.
const (
	encryptionOffText = "This call is not end-to-end encrypted now: Discord's servers can hear it. They switch the " +
		"encryption off in stage channels, and where somebody's app does not know it."
	leftUnencryptedText = "I have left the call: it is not end-to-end encrypted now, so Discord's servers can hear it, " +
		"and the operator does not let me stay in such calls. `/clank join` brings me back once it is encrypted again."
	encryptionOnText    = "This call is end-to-end encrypted again."
	tooManySpeakersText = "So many people speak that I cannot listen to all of them for “stop”, my name and “clank " +
		"privacy”. Those for whom I do something come first, then those who spoke to me last. Everybody else: write “stop” " +
		"here, or use `/clank privacy`."

	aloneSoonText    = "Nobody is in the call with me. I leave in a minute."
	leftAloneText    = "I have left the call, as nobody was there any more. `/clank join` brings me back."
	LimitSoonText    = "I can stay for two more minutes."
	LimitNearText    = "I have to leave in less than a minute."
	LimitReachedText = "I have left the call: it has reached the longest time that a call may last here. `/clank join` " +
		"brings me back."

	noSpeechText = "I have an answer, but nothing to say it with: set up speech in the settings under voice."
	optedOutText = "All right. I no longer hear you."
	muteText     = "Mute your microphone, and I do not hear you."
)

// Capabilities are what works in a call, which the texts about it depend on.
type Capabilities struct {
	Native         bool // a model holds the conversation that hears and speaks by itself
	Transcribes    bool // speech is put into words
	TranscribesAll bool // everything is transcribed
	Spots          bool // stop words and our name are heard in running speech
	OptOut         bool // opt-outs are stored; otherwise people mute themselves
	Records        bool // words are stored
	OnPage         bool // the call is on a page of ours, not in Discord

	Locale i18n.Locale // of written texts
	Voice  i18n.Locale // of spoken texts
}

// optOutHint returns how to be left out. Saying so helps only where something hears it.
func (a Capabilities) optOutHint() string {
	switch {
	case !a.OptOut:
		return a.Locale.T(muteText)
	case !a.listens():
		return a.Locale.T("Use `/clank privacy` to be left out.")
	}
	return a.Locale.T("Say “clank privacy” or use `/clank privacy` to be left out.")
}

func (a Capabilities) listens() bool { return a.Spots || a.Transcribes || a.Native }

// ListeningNotice returns the notice that we listen, and how to opt out.
func (a Capabilities) ListeningNotice() (written string, spoken []string) {
	kept, aloud := "Nothing that is said is stored.", "Hello, I am clank, and I am listening. Nothing is stored."
	if a.Records {
		kept = "What is said to me is stored as text, and no sound."
		aloud = "Hello, I am clank, and I am listening. What is said to me is stored as text."
	}
	out := "Say: clank privacy, to be left out."
	switch {
	case !a.OptOut:
		out = muteText
	case !a.listens():
		out = "The chat says how to be left out."
	}
	written = a.Locale.T(joinedText) + " " + a.optOutHint() + " " + a.Locale.Text(kept)
	return written, []string{a.Voice.Text(aloud), a.Voice.Text(out)}
}

// joinedText is the beginning of the notice that we listen.
const joinedText = "I have joined the call and listen: call me by name (“clank, …”) to ask for something, and say " +
	"“clank, stop” to stop it."

// WelcomeText returns the notice for a person who joins later.
func (a Capabilities) WelcomeText(name string) string {
	return a.Locale.T("Hello, %s. I am in this call and listen.", escapeName(name)) + " " + a.optOutHint()
}

// NoTranscriptionText returns the text that words are not understood because no transcription is configured.
func (a Capabilities) NoTranscriptionText() string {
	const none = "I cannot understand words, as no transcription is configured: set one up in the settings under Calls."
	return a.Locale.T(none) + a.FallbackHint()
}

// noWakeWordText is that our name is not always heard.
const noWakeWordText = "Without the Debian package pocketsphinx I do not hear my name while several people are here, " +
	"only answers to what I say and somebody who is here alone. Install it, or have everything put into words (in the " +
	"settings under Calls)."

// FallbackHint returns what can be done while speech is not understood, as the end of a text.
func (a Capabilities) FallbackHint() string {
	instead := "You can write to me instead."
	switch {
	case a.OnPage && a.Spots:
		instead = "You can write to me on the page Chat instead; stop words still work."
	case a.OnPage:
		instead = "You can write to me on the page Chat instead."
	case a.Spots:
		instead = "You can write to me instead; stop words still work."
	}
	return " " + a.Locale.Text(instead)
}

// SpotterFailedText returns the text that stop words are not heard, and why.
func (a Capabilities) SpotterFailedText(why error) string {
	if a.OnPage {
		return "I cannot listen for stop words at the moment (" + a.reason(why) + ") You can still use the button Stop."
	}
	return a.Locale.T("I cannot listen for stop words at the moment (%s) You can still write “stop” in the chat.",
		a.reason(why))
}

// BudgetSpentTexts returns the texts that the budget is spent, and why.
func (a Capabilities) BudgetSpentTexts(why error) (written, spoken string) {
	spoken = a.Voice.T(budgetSpentText)
	written = a.Locale.T(budgetSpentText) + " " + a.reason(why) + a.FallbackHint()
	if a.Spots {
		spoken += " " + a.Voice.T("Stop still works.")
	}
	return written, spoken
}

const budgetSpentText = "Today's budget is spent, so I no longer understand speech."

// UnclearOptOutTexts returns the texts for an opt-out whose speaker is unknown.
func (a Capabilities) UnclearOptOutTexts() (written, spoken string) {
	written = "Several people spoke, so I do not know who wants to be left out: say it again while nobody else speaks, " +
		"or mute your microphone."
	if a.OptOut {
		written = a.Locale.T("Several people spoke, so I do not know who wants to be left out: say it again while " +
			"nobody else speaks, or write `/clank privacy`.")
	}
	return written, "Several people spoke. Who wants to be left out?"
}

// OptOutConfirmed returns the text that a person is no longer heard; err is why that was not saved.
func (a Capabilities) OptOutConfirmed(name string, err error) string {
	text := a.Locale.T("%s, I do not listen to you any more, here and in later calls. `/clank privacy` takes that back.",
		escapeName(name))
	if err != nil {
		text += " " + a.Locale.T("It could not be saved, though, so it holds only until I am started again: %s",
			a.reason(err))
	}
	return text
}

// ModelGoneText returns the text that the model that held the conversation is gone, and why.
func (a Capabilities) ModelGoneText(why string) string {
	return a.Locale.T("I can no longer understand speech or answer in this call. %s To start again, use `/clank leave` "+
		"and `/clank join`.", why)
}

// reason returns an error as a sentence for people.
func (a Capabilities) reason(err error) string { return a.Locale.Sentence(err.Error()) }
