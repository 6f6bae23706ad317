package speech

import (
	"bytes"
	"testing"

	"clank/internal/test/check"
	"clank/voice"
)

func FuzzTranscription(f *testing.F) {
	for _, seed := range []string{
		`{"text":"hello"}`,
		`{"text":"","language":"english","duration":1.5,"segments":[{"no_speech_prob":0.9}]}`, `{"error":{}}`, `null`,
		`{"text":7}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got, err := readTranscription(raw); err == nil && !bytes.Contains(bytes.ToLower(raw), []byte("text")) &&
			!bytes.ContainsRune(raw, '\\') {
			t.Errorf("%q says %+v", raw, got)
		}
	})
}

func FuzzSpeech(f *testing.F) {
	var ogg bytes.Buffer
	silence := []byte{0xf8, 0xff, 0xfe} // 20 ms, RFC 6716
	check.Must(f, voice.WriteOgg(&ogg, []voice.Packet{{Opus: silence}, {Sequence: 1, Timestamp: 960, Opus: silence}}))
	f.Add("opus", ogg.Bytes())
	f.Add("opus", []byte("OggS"))
	f.Add("pcm", make([]byte, 4800))
	f.Add("pcm", []byte("RIFF"))
	f.Add("wav", append([]byte("RIFF\x24\x00\x00\x00WAVEfmt "+
		"\x10\x00\x00\x00\x01\x00\x01\x00\xc0\x5d\x00\x00\x80\xbb\x00\x00\x02\x00\x10\x00data\xff\xff\xff\xff"),
		make([]byte, 960)...))
	f.Fuzz(func(t *testing.T, format string, body []byte) {
		_, err := decodeSpeech(Format(format), bytes.NewReader(body), func(packet []byte) bool {
			if s, err := voice.InspectOpus(packet); err != nil || s.Duration() != voice.FrameTime {
				t.Errorf("a packet of %v: %v", s.Duration(), err)
			}
			return true
		})
		if err == nil && len(body) == 0 && format != string(PCM) {
			t.Error("nothing is speech")
		}
	})
}
