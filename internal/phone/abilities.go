package phone

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"clank/llm"
	"clank/settings"
	"clank/voice/speech/espeak"
	"clank/voice/speech/spot"
)

// Ability is one thing that calls need or can do: whether it is there, and what it is or what would bring it.
type Ability struct {
	Name  string
	Ready bool
	Says  string
}

// The names of abilities.
const (
	CallWords   = "calls: words"
	CallStop    = "calls: stop"
	CallSpeech  = "calls: speech"
	CallPort    = "calls: UDP port"
	CallRelay   = "calls: relay"
	ShareViewer = "shares: viewer"
	ShareLive   = "shares: Go Live"
)

// Abilities says what of calls works on this machine with some settings. present tells which secrets are there. No server
// is asked. The UDP port is tried if try is set: not while a clank runs that may have it.
func Abilities(ctx context.Context, s settings.Settings, present func(name string) bool, try bool) []Ability {
	list := []Ability{hearsWords(s.Voice, present), hearsStop(), speaks(s.Voice, present)}
	if !s.Voice.Enabled {
		off := "calls are switched off in the settings under Calls"
		for i := range list {
			list[i].Ready, list[i].Says = false, off
		}
	}
	return append(list, port(ctx, s.Share, try), relay(s.Share, present), viewerPage(s.Share), goesLive(s.Share, present))
}

// ownServer is the server that is set up for something to do with sound: its own address, or OpenAI's with a key.
func ownServer(base, model, env string, present func(string) bool) string {
	switch {
	case base != "":
		return model + " at " + base
	case present(env) || present("OPENAI_API_KEY"):
		return "OpenAI's " + model + retires(model)
	}
	return ""
}

// retires says when OpenAI takes a model back that is used of it.
func retires(model string) string {
	if r, ok := llm.Retires(model); ok {
		return " (" + r.String() + ")"
	}
	return ""
}

func hearsWords(v settings.Voice, present func(string) bool) Ability {
	a := Ability{Name: CallWords}
	if v.Brain == settings.VoiceBrainRealtime {
		a.Ready = v.Realtime.URL != "" || present("REALTIME_API_KEY") || present("OPENAI_API_KEY")
		a.Says = "by the realtime model " + v.Realtime.Model
		if v.Realtime.URL == "" {
			a.Says += retires(v.Realtime.Model)
		}
		if !a.Ready {
			a.Says += ", which needs REALTIME_API_KEY or OPENAI_API_KEY, or the address of a realtime server in the settings under Calls"
		}
		return a
	}
	if server := ownServer(v.Transcription.URL, v.Transcription.Model, "TRANSCRIPTION_API_KEY", present); server != "" {
		a.Ready, a.Says = true, "understood by "+server
		return a
	}
	a.Says = "not understood: set OPENAI_API_KEY or TRANSCRIPTION_API_KEY, or name a transcription server of your own in the settings under Calls"
	return a
}

func hearsStop() Ability {
	a := Ability{Name: CallStop, Ready: true, Says: "“stop” and the name are heard by pocketsphinx, on this machine"}
	s, err := spot.Open(spot.Options{})
	switch {
	case err == nil:
		err = s.Close()
	case errors.Is(err, spot.ErrMissing):
		return Ability{Name: CallStop, Says: "“stop” is only heard where words are understood, and later: apt-get install pocketsphinx pocketsphinx-en-us"}
	}
	if err != nil {
		a.Ready, a.Says = false, err.Error()
	}
	return a
}

func speaks(v settings.Voice, present func(string) bool) Ability {
	a := Ability{Name: CallSpeech}
	engine := v.Speech.Engine
	if engine == settings.SpeechOff {
		a.Says = "answers are written, as the settings want it"
		return a
	}
	server := ownServer(v.Speech.URL, v.Speech.Model, "SPEECH_API_KEY", present)
	if server != "" && engine != settings.SpeechLocal {
		a.Ready, a.Says = true, "spoken by "+server
		if _, ends := llm.Retires(v.Speech.Model); ends && v.Speech.URL == "" {
			a.Says += "; then choose espeak-ng (clank config set interaction.voice.speech.engine local), a server of your own, or a realtime model"
		}
		return a
	}
	if engine == settings.SpeechServer {
		a.Says = "answers are written: set OPENAI_API_KEY or SPEECH_API_KEY, or name a speech server of your own in the settings under Calls"
		return a
	}
	switch _, err := espeak.New(espeak.Options{Voice: v.Speech.Local}); {
	case err == nil:
		a.Ready, a.Says = true, "spoken by espeak-ng, on this machine"
	case errors.Is(err, espeak.ErrMissing):
		a.Says = "answers are written: apt-get install espeak-ng"
	default:
		a.Says = err.Error()
	}
	return a
}

func port(ctx context.Context, s settings.Share, try bool) Ability {
	a := Ability{Name: CallPort, Ready: true, Says: "any that is free, for pages on this machine and in its network"}
	if s.UDPPort == 0 {
		return a
	}
	a.Says = fmt.Sprintf("%d, for the call page and the viewer's page", s.UDPPort)
	if s.PublicHost != "" {
		a.Says += ", known outside as " + s.PublicHost
	}
	if !try {
		return a
	}
	var lc net.ListenConfig
	conn, err := lc.ListenPacket(ctx, "udp", fmt.Sprintf(":%d", s.UDPPort))
	if err == nil {
		err = conn.Close()
	}
	if err != nil {
		a.Ready, a.Says = false, fmt.Sprintf("%d cannot be used: %v; choose another in the settings", s.UDPPort, err)
	}
	return a
}

func viewerPage(s settings.Share) Ability {
	a := Ability{Name: ShareViewer, Ready: true, Says: s.PublicURL}
	if s.PublicURL == "" {
		a.Ready = false
		a.Says = "links work on this machine only: for people elsewhere, put the page (clank serve --watch-addr) behind a reverse proxy and name its address in the settings under Showing a browser"
		return a
	}
	if !strings.HasPrefix(s.PublicURL, "https://") {
		a.Says += " (without https anybody on the way can watch along)"
	}
	return a
}

func goesLive(s settings.Share, present func(string) bool) Ability {
	a := Ability{Name: ShareLive, Says: "off; links are given instead"}
	if !s.GoLive {
		return a
	}
	a.Ready = present("DISCORD_GOLIVE_TOKEN")
	a.Says = "on. Discord does not let bots do this, and may end the account that does"
	if !a.Ready {
		a.Says = "on, but without an account: set DISCORD_GOLIVE_TOKEN. Discord does not let bots do this, and may end the account that does"
	}
	return a
}

// Summary is what a list of abilities says in one line about talking in calls.
func Summary(list []Ability) string {
	var lacks []string
	for _, a := range list {
		if !a.Ready && (a.Name == CallWords || a.Name == CallStop || a.Name == CallSpeech) {
			lacks = append(lacks, a.Says)
		}
	}
	if len(lacks) == 0 {
		return "on the page Call, and in voice channels with Discord"
	}
	return "on the page Call, and in voice channels with Discord; " + strings.Join(lacks, "; ")
}
