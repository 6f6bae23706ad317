package realtime

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"clank/llm"
	"clank/voice"
)

// event is an event of the server; only the fields of its type are set.
type event struct {
	Type       string    `json:"type"`
	ItemID     string    `json:"item_id"`
	ResponseID string    `json:"response_id"`
	CallID     string    `json:"call_id"`
	Name       string    `json:"name"`
	Arguments  string    `json:"arguments"`
	Delta      string    `json:"delta"`
	Transcript string    `json:"transcript"`
	Text       string    `json:"text"`
	Item       *item     `json:"item"`
	Response   *response `json:"response"`
	Error      *failure  `json:"error"`
	Usage      *usage    `json:"usage"`          // of a transcription
	AudioStart *int      `json:"audio_start_ms"` // start of the speech in the audio sent on this connection
	AudioEnd   *int      `json:"audio_end_ms"`
}

// failure is the content of an error event or a failed response.
type failure struct {
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
	EventID string `json:"event_id"` // of our event that it is about
}

type response struct {
	ID            string `json:"id"`
	Status        string `json:"status"`
	StatusDetails struct {
		Error *failure `json:"error"`
	} `json:"status_details"`
	Output []item `json:"output"`
	Usage  *usage `json:"usage"`
}

type usage struct {
	Seconds      float64 `json:"seconds"` // of speech, where a transcription is charged by it
	Input        int     `json:"input_tokens"`
	Output       int     `json:"output_tokens"`
	InputDetails struct {
		Cached        int `json:"cached_tokens"`
		Audio         int `json:"audio_tokens"`
		CachedDetails struct {
			Audio int `json:"audio_tokens"`
		} `json:"cached_tokens_details"`
	} `json:"input_token_details"`
	OutputDetails struct {
		Audio int `json:"audio_tokens"`
	} `json:"output_token_details"`
}

// item is a part of the conversation: a message, a tool call or its result.
type item struct {
	ID        string    `json:"id,omitempty"`
	Type      string    `json:"type"`
	Role      string    `json:"role,omitempty"`
	Content   []content `json:"content,omitempty"`
	Name      string    `json:"name,omitempty"`
	CallID    string    `json:"call_id,omitempty"`
	Arguments *string   `json:"arguments,omitempty"` // always there in a call
	Output    *string   `json:"output,omitempty"`    // always present in a result
}

type content struct {
	Type       string `json:"type"`
	Text       string `json:"text,omitempty"`
	Transcript string `json:"transcript,omitempty"`
	ImageURL   string `json:"image_url,omitempty"`
}

// betaNames are the names that some local servers still give to events.
var betaNames = map[string]string{
	"response.audio.delta":            "response.output_audio.delta",
	"response.audio.done":             "response.output_audio.done",
	"response.audio_transcript.delta": "response.output_audio_transcript.delta",
	"response.audio_transcript.done":  "response.output_audio_transcript.done",
	"response.text.delta":             "response.output_text.delta",
	"response.text.done":              "response.output_text.done",
	"conversation.item.created":       "conversation.item.added",
}

// parseEvent reads one event.
func parseEvent(data []byte) (event, error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return event{}, fmt.Errorf("read an event: %w", err)
	}
	if e.Type == "" {
		return event{}, fmt.Errorf("read an event: it has no type: %.80q", data)
	}
	e.Type = cmp.Or(betaNames[e.Type], e.Type)
	return e, nil
}

// What we send.
type (
	plainEvent struct {
		Type string `json:"type"`
	}
	appendEvent struct {
		Type  string `json:"type"`
		Audio []byte `json:"audio"` // base64 in JSON
	}
	createEvent struct {
		Type    string `json:"type"`
		EventID string `json:"event_id,omitempty"`
		Item    item   `json:"item"`
	}
	truncateEvent struct {
		Type         string `json:"type"`
		EventID      string `json:"event_id"`
		ItemID       string `json:"item_id"`
		ContentIndex int    `json:"content_index"`
		AudioEndMS   int64  `json:"audio_end_ms"`
	}
	updateEvent struct {
		Type    string        `json:"type"`
		EventID string        `json:"event_id"`
		Session sessionConfig `json:"session"`
	}
	sessionConfig struct {
		Type         string      `json:"type"`
		Model        string      `json:"model"`
		Instructions string      `json:"instructions,omitempty"`
		Modalities   []string    `json:"output_modalities"`
		Audio        audioConfig `json:"audio"`
		Tools        []tool      `json:"tools"`
		ToolChoice   string      `json:"tool_choice"`
		MostOutput   int         `json:"max_output_tokens,omitempty"`
	}
	audioConfig struct {
		Input  inputConfig  `json:"input"`
		Output outputConfig `json:"output"`
	}
	inputConfig struct {
		Format        format         `json:"format"`
		TurnDetection turnDetection  `json:"turn_detection"`
		Transcription *transcription `json:"transcription,omitempty"`
	}
	outputConfig struct {
		Format format `json:"format"`
		Voice  string `json:"voice,omitempty"`
	}
	format struct {
		Type string `json:"type"`
		Rate int    `json:"rate"`
	}
	turnDetection struct {
		Type      string `json:"type"`
		Create    bool   `json:"create_response"`
		Interrupt bool   `json:"interrupt_response"`
	}
	transcription struct {
		Model    string `json:"model"`
		Language string `json:"language,omitempty"`
	}
	tool struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
)

// Ids of our events, to decide whether their failure matters.
const (
	configureEventID = "configure"
	truncateEventID  = "truncate"
)

// config returns the event that configures the session.
func (s *Session) config() updateEvent {
	pcm := format{Type: "audio/pcm", Rate: voice.RateRealtime}
	c := sessionConfig{
		Type: "realtime", Model: s.model(), Instructions: s.Instructions, Modalities: []string{"audio"}, ToolChoice: "auto",
		Audio: audioConfig{
			Input:  inputConfig{Format: pcm, TurnDetection: turnDetection{Type: "server_vad", Create: true, Interrupt: true}},
			Output: outputConfig{Format: pcm, Voice: s.Voice},
		},
		Tools: []tool{}, MostOutput: s.MaxOutputTokens,
	}
	if s.TranscriptionModel != "" {
		c.Audio.Input.Transcription = &transcription{Model: s.TranscriptionModel, Language: s.Language}
	}
	for _, t := range s.Tools {
		parameters := t.Schema
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		c.Tools = append(c.Tools, tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: parameters})
	}
	return updateEvent{Type: "session.update", EventID: configureEventID, Session: c}
}

func (s *Session) model() string { return cmp.Or(s.Model, DefaultModel) }

// used returns a response's usage.
func (u *usage) used() Usage {
	return Usage{
		Usage:      llm.Usage{Calls: 1, InputTokens: u.Input, CachedTokens: u.InputDetails.Cached, OutputTokens: u.Output},
		AudioInput: u.InputDetails.Audio, AudioCached: u.InputDetails.CachedDetails.Audio, AudioOutput: u.OutputDetails.Audio,
	}
}

// length returns how much speech was put into words: it is given in seconds, or as a token for each 100 ms.
func (u *usage) length() time.Duration {
	switch {
	case u == nil:
		return 0
	case u.Seconds > 0:
		return time.Duration(min(u.Seconds, 3600) * float64(time.Second))
	}
	return time.Duration(min(max(u.InputDetails.Audio, 0), 36_000)) * 100 * time.Millisecond
}

// words returns the text of a message.
func (i item) words() string {
	var all []string
	for _, c := range i.Content {
		if w := cmp.Or(c.Text, c.Transcript); w != "" {
			all = append(all, w)
		}
	}
	return strings.Join(all, " ")
}
