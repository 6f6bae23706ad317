package conn

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Operations of the voice gateway.
const (
	opIdentify       = 0
	opSelect         = 1
	opReady          = 2
	opHeartbeat      = 3
	opDescription    = 4
	opSpeaking       = 5
	opHeartbeatAck   = 6
	opResume         = 7
	opHello          = 8
	opResumed        = 9
	opConnected      = 11
	opVideo          = 12
	opDisconnected   = 13
	opSessionUpdate  = 14
	opMediaSinkWants = 15
	opVersion        = 16
	opFlags          = 18
	opPlatform       = 20
)

// The masks of what we speak as.
const (
	SpeakingMicrophone = 1 // a voice
	SpeakingSoundshare = 2 // the sound of something shared
)

// Payload types that we choose.
const (
	typeOpus   = 120
	typeVP8    = 105
	typeVP8RTX = 106
)

type payload struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int            `json:"seq,omitempty"`
}

type outgoing struct {
	Op   int `json:"op"`
	Data any `json:"d"`
}

type identify struct {
	ServerID  string   `json:"server_id"`
	UserID    string   `json:"user_id"`
	SessionID string   `json:"session_id"`
	Token     string   `json:"token"`
	Dave      int      `json:"max_dave_protocol_version"`
	Video     bool     `json:"video,omitempty"`
	Streams   []stream `json:"streams,omitempty"`
}

type resume struct {
	ServerID  string `json:"server_id"`
	SessionID string `json:"session_id"`
	Token     string `json:"token"`
	SeqAck    int    `json:"seq_ack"`
}

type heartbeat struct {
	Time   int64 `json:"t"`
	SeqAck int   `json:"seq_ack"`
}

type stream struct {
	Type       string      `json:"type"`
	RID        string      `json:"rid"`
	Quality    int         `json:"quality"`
	SSRC       uint32      `json:"ssrc,omitempty"`
	RTX        uint32      `json:"rtx_ssrc,omitempty"`
	Active     bool        `json:"active,omitempty"`
	MaxBitrate int         `json:"max_bitrate,omitempty"`
	MaxRate    int         `json:"max_framerate,omitempty"`
	MaxSize    *resolution `json:"max_resolution,omitempty"`
}

type resolution struct {
	Type   string `json:"type"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// Ready is what the gateway offers to a connection (op 2).
type Ready struct {
	SSRC    uint32   `json:"ssrc"` // of our sound
	IP      string   `json:"ip"`
	Port    int      `json:"port"`
	Modes   []string `json:"modes"`
	Streams []stream `json:"streams"`
}

// VideoSSRCs returns the SSRCs of our video and of its retransmission; 0 where the gateway gave none.
func (r Ready) VideoSSRCs() (video, rtx uint32) {
	for _, s := range r.Streams {
		if s.SSRC != 0 {
			return s.SSRC, s.RTX
		}
	}
	return 0, 0
}

// with returns r with other sources than the gateway assigned; 0 keeps one.
func (r Ready) with(video, rtx uint32) Ready {
	streams := slices.Clone(r.Streams)
	for i, s := range streams {
		if s.SSRC != 0 {
			streams[i].SSRC, streams[i].RTX = cmp.Or(video, s.SSRC), cmp.Or(rtx, s.RTX)
			break
		}
	}
	r.Streams = streams
	return r
}

// Description is what the gateway has settled for a connection (op 4).
type Description struct {
	Mode       string `json:"mode"`
	Key        key    `json:"secret_key"`
	SDP        string `json:"sdp"` // of transports that use it
	VideoCodec string `json:"video_codec"`
	Dave       int    `json:"dave_protocol_version"`
}

// key is a list of numbers in JSON.
type key []byte

func (k *key) UnmarshalJSON(data []byte) error {
	var numbers []uint16
	if err := json.Unmarshal(data, &numbers); err != nil {
		return fmt.Errorf("read the key of the connection: %w", err)
	}
	*k = make(key, len(numbers))
	for i, n := range numbers {
		if n > 255 {
			return fmt.Errorf("read the key of the connection: %d is no byte", n)
		}
		(*k)[i] = byte(n)
	}
	return nil
}

type speaking struct {
	Speaking int    `json:"speaking"`
	Delay    int    `json:"delay"`
	SSRC     uint32 `json:"ssrc"`
	UserID   string `json:"user_id,omitempty"`
}

type videoState struct {
	UserID    string   `json:"user_id,omitempty"`
	AudioSSRC uint32   `json:"audio_ssrc"`
	VideoSSRC uint32   `json:"video_ssrc"`
	RTXSSRC   uint32   `json:"rtx_ssrc"`
	Streams   []stream `json:"streams"`
}

type selectProtocol struct {
	Protocol string  `json:"protocol"`
	Data     any     `json:"data"`
	Codecs   []codec `json:"codecs,omitempty"`
}

type codec struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Priority int    `json:"priority"`
	Payload  int    `json:"payload_type"`
	RTX      int    `json:"rtx_payload_type,omitempty"`
	Encode   bool   `json:"encode"`
	Decode   bool   `json:"decode"`
}

// codecs are the codecs that we can send and receive. VP8 is the only one for video: screenshots contain it.
var codecs = []codec{
	{Name: "opus", Type: "audio", Priority: 1000, Payload: typeOpus, Encode: true, Decode: true},
	{Name: "VP8", Type: "video", Priority: 1000, Payload: typeVP8, RTX: typeVP8RTX, Encode: true, Decode: true},
}
