package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"clank/internal/settings"
	"clank/llm"
	"clank/voice/speech"
	"clank/voice/speech/keyword"
	"clank/voice/webrtc"
)

// Capability is a component or ability of calls: whether it is available, and what it is or how to get it.
type Capability struct {
	Name   string
	Ready  bool
	Detail string
}

// Names of capabilities.
const (
	CapabilityTranscription = "calls: words"
	CapabilityStopWords     = "calls: stop"
	CapabilitySpeech        = "calls: speech"
	CapabilityUDPPort       = "calls: UDP port"
	CapabilityRelay         = "calls: relay"
	CapabilityViewer        = "shares: viewer"
	CapabilityGoLive        = "shares: Go Live"
)

// CallCapabilities returns what calls can do on this machine with the given settings. present reports which secrets
// are set. It contacts no server. If try is set it tests the UDP port, which must not be done while a running clank
// may use it.
func CallCapabilities(ctx context.Context, s settings.Settings, present func(name string) bool, try bool) []Capability {
	list := []Capability{
		transcriptionCapability(s.Voice, present), stopWordsCapability(),
		speechCapability(s.Voice, present),
	}
	if !s.Voice.Enabled {
		off := "calls are switched off in the settings under Calls"
		for i := range list {
			list[i].Ready, list[i].Detail = false, off
		}
	}
	return append(list, udpPortCapability(ctx, s.Share, try), relayCapability(s.Share, present), viewerCapability(s.Share),
		goLiveCapability(s.Share, present))
}

// configuredServer returns the configured server of a speech service: its own address, or OpenAI's if there is a key.
func configuredServer(base, model, env string, present func(string) bool) string {
	switch {
	case base != "":
		return model + " at " + base
	case present(env) || present("OPENAI_API_KEY"):
		return "OpenAI's " + model + DeprecationNote(model)
	}
	return ""
}

// DeprecationNote returns when OpenAI shuts a model down; "" if no date is known.
func DeprecationNote(model string) string {
	if r, ok := llm.DeprecationOf(model); ok {
		return " (" + r.String() + ")"
	}
	return ""
}

func transcriptionCapability(v settings.Voice, present func(string) bool) Capability {
	a := Capability{Name: CapabilityTranscription}
	if v.Engine == settings.VoiceEngineRealtime {
		a.Ready = v.Realtime.URL != "" || present("REALTIME_API_KEY") || present("OPENAI_API_KEY")
		a.Detail = "by the realtime model " + v.Realtime.Model
		if v.Realtime.URL == "" {
			a.Detail += DeprecationNote(v.Realtime.Model)
		}
		if !a.Ready {
			a.Detail += ", which needs REALTIME_API_KEY or OPENAI_API_KEY, or the address of a realtime server in the " +
				"settings under Calls"
		}
		return a
	}
	if server := configuredServer(v.Transcription.URL, v.Transcription.Model, "TRANSCRIPTION_API_KEY",
		present); server != "" {
		a.Ready, a.Detail = true, "understood by "+server
		return a
	}
	a.Detail = "speech is not understood: set OPENAI_API_KEY or TRANSCRIPTION_API_KEY, or name a transcription server " +
		"of your own in the settings under Calls"
	return a
}

func stopWordsCapability() Capability {
	a := Capability{Name: CapabilityStopWords, Ready: true, Detail: "“stop” and the name are heard by pocketsphinx, on " +
		"this machine"}
	s, err := keyword.Open(keyword.Options{})
	switch {
	case err == nil:
		err = s.Close()
	case errors.Is(err, keyword.ErrMissing):
		return Capability{Name: CapabilityStopWords, Detail: "“stop” is only heard where words are understood, and later: " +
			"apt-get install pocketsphinx pocketsphinx-en-us"}
	}
	if err != nil {
		a.Ready, a.Detail = false, err.Error()
	}
	return a
}

func speechCapability(v settings.Voice, present func(string) bool) Capability {
	a := Capability{Name: CapabilitySpeech}
	engine := v.Speech.Engine
	if engine == settings.SpeechOff {
		a.Detail = "answers are written, as the settings want it"
		return a
	}
	server := configuredServer(v.Speech.URL, v.Speech.Model, "SPEECH_API_KEY", present)
	if server != "" && engine != settings.SpeechLocal {
		a.Ready, a.Detail = true, "spoken by "+server
		if _, ends := llm.DeprecationOf(v.Speech.Model); ends && v.Speech.URL == "" {
			a.Detail += "; then choose espeak-ng (clank config set interaction.voice.speech.engine local), a server of your " +
				"own, or a realtime model"
		}
		return a
	}
	if engine == settings.SpeechServer {
		a.Detail = "answers are written: set OPENAI_API_KEY or SPEECH_API_KEY, or name a speech server of your own in the " +
			"settings under Calls"
		return a
	}
	switch _, err := speech.NewESpeak(speech.ESpeakOptions{Voice: v.Speech.LocalVoice}); {
	case err == nil:
		a.Ready, a.Detail = true, "spoken by espeak-ng, on this machine"
	case errors.Is(err, speech.ErrESpeakMissing):
		a.Detail = "answers are written: apt-get install espeak-ng"
	default:
		a.Detail = err.Error()
	}
	return a
}

func udpPortCapability(ctx context.Context, s settings.Share, try bool) Capability {
	a := Capability{Name: CapabilityUDPPort, Ready: true, Detail: "any that is free, for pages on this machine and in " +
		"its network"}
	if s.UDPPort == 0 {
		return a
	}
	a.Detail = fmt.Sprintf("%d, for the call page and the viewer's page", s.UDPPort)
	if s.PublicHost != "" {
		a.Detail += ", known outside as " + s.PublicHost
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
		a.Ready, a.Detail = false, fmt.Sprintf("%d cannot be used: %v; choose another in the settings", s.UDPPort, err)
		return a
	}
	if l, err := lc.Listen(ctx, "tcp", fmt.Sprintf(":%d", s.UDPPort)); err != nil {
		a.Detail += "; another program has it for TCP, so people without UDP cannot join calls"
	} else {
		_ = l.Close() // only tested
	}
	return a
}

func viewerCapability(s settings.Share) Capability {
	a := Capability{Name: CapabilityViewer, Ready: true, Detail: s.PublicURL}
	if s.PublicURL == "" {
		a.Ready = false
		a.Detail = "links work on this machine only: for people elsewhere, put the page (clank serve --watch-addr) behind " +
			"a reverse proxy and name its address in the settings under Sharing"
		return a
	}
	if !strings.HasPrefix(s.PublicURL, "https://") {
		a.Detail += " (without https anybody on the way can watch along)"
	}
	return a
}

func goLiveCapability(s settings.Share, present func(string) bool) Capability {
	a := Capability{Name: CapabilityGoLive, Detail: "off; links are given instead"}
	if !s.GoLive {
		return a
	}
	a.Ready = present("DISCORD_GOLIVE_TOKEN")
	a.Detail = "on. Discord does not let bots do this, and may end the account that does"
	if !a.Ready {
		a.Detail = "on, but without an account: set DISCORD_GOLIVE_TOKEN. Discord does not let bots do this, and may end " +
			"the account that does"
	}
	return a
}

// CapabilitySummary summarizes a list of capabilities in one line.
func CapabilitySummary(list []Capability) string {
	var lacks []string
	for _, a := range list {
		if !a.Ready && (a.Name == CapabilityTranscription || a.Name == CapabilityStopWords || a.Name == CapabilitySpeech) {
			lacks = append(lacks, a.Detail)
		}
	}
	if len(lacks) == 0 {
		return "on the page Call, and in voice channels with Discord"
	}
	return "on the page Call, and in voice channels with Discord; " + strings.Join(lacks, "; ")
}

// iceServers returns the configured STUN and TURN servers. Unusable relays are left out with a log message.
func (x *CallService) iceServers(s settings.Share) []webrtc.ICEServer {
	var list []webrtc.ICEServer
	if stun := strings.Fields(s.STUN); len(stun) > 0 {
		list = append(list, webrtc.ICEServer{URLs: stun})
	}
	found := map[string]settings.SecretValue{}
	var unread error
	relays, err := s.TURNServers(func(name string) bool {
		v, err := settings.ReadSecret(name, x.Getenv)
		if err != nil {
			unread = err
		}
		found[name] = v
		return v.IsSet()
	})
	if unread != nil {
		err = unread
	}
	if err != nil {
		x.Logger.Error("turn servers are not used", "error", err)
		return list
	}
	if len(relays) > 0 {
		list = append(list, webrtc.ICEServer{
			URLs: relays, Username: s.TURNUser,
			Credential: found[settings.CredentialTURN].Reveal(), Secret: found[settings.SecretTURN].Reveal(),
		})
	}
	return list
}

func relayCapability(s settings.Share, present func(string) bool) Capability {
	a := Capability{Name: CapabilityRelay, Detail: "none: needed only for people whose network lets neither UDP nor " +
		"this machine's port through"}
	relays, err := s.TURNServers(present)
	switch {
	case err != nil:
		a.Detail = err.Error()
	case len(relays) > 0 && present(settings.SecretTURN):
		a.Ready, a.Detail = true, strings.Join(relays, " ")+", lent to whoever may watch for six hours"
	case len(relays) > 0:
		a.Ready, a.Detail = true, strings.Join(relays, " ")+", with a credential that whoever may watch can read and that "+
			"does not expire; "+settings.SecretTURN+" is safer"
	}
	return a
}
