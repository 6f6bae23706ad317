// Package phrases is what clank says and writes in a call about itself: that it listens, how to be left out, what it cannot do now and
// what helps. None of it is an answer to anybody.
package phrases

import "clank/voice/talk/words"

// Style is what a model is told about answers that are spoken.
const Style = "This is a voice call: what people say was put into words by a recogniser, which mishears, and your answer is spoken aloud. " +
	"Answer in one to three short sentences of plain spoken language, in the language of the person. No Markdown, no lists, no addresses, no emoji; " +
	"say numbers and times as one says them. Before you use a tool, say so in one short sentence or not at all. If a link or a picture is needed, put the link at the end and say that it is in the chat: it is written " +
	"there, not spoken. If a request makes no sense, ask shortly what was meant."

// Phrases that are always the same.
const (
	Exposed = "This call is not end-to-end encrypted now: Discord's servers can hear it. They switch the encryption off in stage channels, " +
		"and where somebody's app does not know it."
	Sealed  = "This call is end-to-end encrypted again."
	Crowded = "So many people speak that I cannot listen to all of them for “stop”, my name and “clank privacy”. Those for whom I do something come " +
		"first, then those who spoke to me last. Everybody else: write “stop” here, or use `/clank privacy`."

	LonelySoon = "Nobody is in the call with me. I leave in a minute."
	Lonely     = "I have left the call, as nobody was there any more. `/clank join` brings me back."
	OverSoon   = "I can stay for two more minutes."
	OverNow    = "I have to leave in less than a minute."
	Over       = "I have left the call: it has reached the longest time that a call may last here. `/clank join` brings me back."

	NoSpeech = "I have an answer, but nothing to say it with: set up speech in the settings under voice."
	Unheard  = "All right. I no longer hear you."
	Mute     = "Mute your microphone, and I do not hear you."
)

// Able is what there is in a call, on which it depends what can be said.
type Able struct {
	Native      bool // a model holds the conversation that hears and speaks by itself
	Transcribes bool // speech is put into words
	All         bool // all of it is
	Spots       bool // stop words and our name are heard in running speech
	Excludes    bool // it is noted who does not want to be heard; else they mute themselves
	Keeps       bool // words are stored
	OnPage      bool // it is on a page of ours, not in Discord
}

// HowOut is how to be left out, in the midst of a sentence. Saying so helps only where something hears it.
func (a Able) HowOut() string {
	switch {
	case !a.Excludes:
		return "mute your microphone not to be heard"
	case !a.hears():
		return "use `/clank privacy` to be left out"
	}
	return "say “clank privacy” or use `/clank privacy` to be left out"
}

func (a Able) hears() bool { return a.Spots || a.Transcribes || a.Native }

// OutInSilence is how somebody is left out without saying so aloud, in the midst of a sentence.
func (a Able) OutInSilence() string {
	if !a.Excludes {
		return "mute your microphone"
	}
	return "write `/clank privacy`"
}

// Notice says that we listen, and how to be left out.
func (a Able) Notice() (written string, spoken []string) {
	kept, aloud := "Nothing that is said is stored", "Hello, I am clank, and I am listening. Nothing is stored."
	if a.Keeps {
		kept = "What is said to me is stored as text, and no sound"
		aloud = "Hello, I am clank, and I am listening. What is said to me is stored as text."
	}
	out := "Say: clank privacy, to be left out."
	switch {
	case !a.Excludes:
		out = Mute
	case !a.hears():
		out = "The chat says how to be left out."
	}
	written = "I have joined the call and listen: call me by name (“clank, …”) to ask for something, and say “clank, stop” to stop it. " +
		words.Sentence(a.HowOut()) + " " + kept + "."
	return written, []string{aloud, out}
}

// Welcome tells somebody who comes later what Notice says.
func (a Able) Welcome(name string) string {
	return "Hello, " + words.Name(name) + ". I am in this call and listen; " + a.HowOut() + "."
}

// NoWords is that words are not understood, for want of something that does it.
func (a Able) NoWords() string {
	return "I cannot understand words, as no transcription is configured: set one up in the settings under Calls." + a.StillStops()
}

// NoName is that our name is not always heard.
const NoName = "Without the Debian package pocketsphinx I do not hear my name while several people are here, only answers to what I " +
	"say and somebody who is here alone. Install it, or have everything put into words (in the settings under Calls)."

// StillStops is what can be done while speech is not understood, as the end of a text.
func (a Able) StillStops() string {
	instead := " You can write to me instead"
	if a.OnPage {
		instead = " You can write to me on the page Chat instead"
	}
	if !a.Spots {
		return instead + "."
	}
	return instead + "; stop words still work."
}

// CannotSpot is that stop words are not heard, and why.
func (a Able) CannotSpot(why error) string {
	instead := "write “stop” in the chat"
	if a.OnPage {
		instead = "use the button Stop"
	}
	return "I cannot listen for stop words at the moment (" + words.Sentence(why.Error()) + ") You can still " + instead + "."
}

// Spent is that no more may be spent, and why.
func (a Able) Spent(why error) (written, spoken string) {
	spoken = "I may not spend more today, so I do not hear words any more."
	written = spoken + " " + words.Sentence(why.Error()) + a.StillStops()
	if a.Spots {
		spoken += " Stop still works."
	}
	return written, spoken
}

// WhosePrivacy is that somebody wants to be left out, and it is not known who.
func (a Able) WhosePrivacy() (written, spoken string) {
	return "Several people spoke, so I do not know who wants to be left out: say it again while nobody else speaks, or " + a.OutInSilence() + ".",
		"Several people spoke. Who wants to be left out?"
}

// LeftOut tells somebody that they are not heard any more; err is why that was not saved.
func LeftOut(name string, err error) string {
	text := words.Name(name) + ", I do not listen to you any more, here and in later calls. `/clank privacy` takes that back."
	if err != nil {
		text += " It could not be saved, though, so it holds only until I am started again: " + words.Sentence(err.Error())
	}
	return text
}

// NoModel is that the model that held the conversation is gone, and why.
func NoModel(why string) string {
	return "I can neither hear words nor answer any more in this call. " + why + " `/clank leave` and `/clank join` begin anew."
}
