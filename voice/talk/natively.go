package talk

import (
	"clank/brain"
	"clank/llm"
	"clank/voice/realtime"
	"clank/voice/talk/toolbox"
)

// Natively has s hold the conversation, with the tools that it is given: a [Talk.NewNative]. The functions and the tools of s are set by
// it; its other fields are the caller's, also those that tell what it uses.
func Natively(s *realtime.Session, tools func(on NativeEvents) []brain.Tool) func(NativeEvents) Native {
	return func(on NativeEvents) Native {
		box := toolbox.Box{Tools: tools(on), Asker: on.Asker}
		s.Tools, s.Call = box.List(), box.Call
		s.Speak = func(sound Sound) realtime.Playing { return on.Speak(sound) }
		s.Hush, s.Heard, s.Said = on.Hush, on.Heard, on.Said
		s.Trouble = func(err *llm.Error) { on.Trouble(err) }
		return s
	}
}
