package recording

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/maphash"
	"time"

	"clank/computeruse"
	"clank/llm"
	"clank/sessions/agent"
)

// Model returns m wrapped so that its calls are recorded.
func (r *Recorder) Model(m llm.Model) llm.Model { return &recordedModel{Model: m, recorder: r} }

type recordedModel struct {
	llm.Model

	recorder *Recorder
}

func (m *recordedModel) Generate(ctx context.Context, req llm.Request, onDelta func(llm.Delta)) (llm.Reply, error) {
	run := m.recorder.runOf(ctx)
	if run == nil {
		return m.Model.Generate(ctx, req, onDelta)
	}
	call := run.recordRequest(req)
	call.Model, call.Caps, call.Purpose = m.Name(), m.Caps(), llm.AccountOf(ctx).Purpose
	begun := m.recorder.now()
	reply, err := m.Model.Generate(ctx, req, onDelta)
	run.recordReply(call, reply, err, m.recorder.now().Sub(begun))
	return reply, err
}

// recordRequest writes the new parts of a request, and returns the request with references to entries.
func (r *runWriter) recordRequest(req llm.Request) *ModelCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	call := &ModelCall{MaxTokens: req.MaxTokens, Messages: make([]int, 0, len(req.Messages))}
	if !r.systemWritten || req.System != r.system {
		r.systemWritten, r.system = true, req.System
		call.System = &req.System
	}
	call.Tools = r.recordTools(req.Tools)
	for _, m := range req.Messages {
		call.Messages = append(call.Messages, r.recordMessage(m))
	}
	return call
}

// recordTools writes a set of tools once and returns its hash. The caller holds the lock.
func (r *runWriter) recordTools(tools []llm.Tool) string {
	if len(tools) == 0 {
		return ""
	}
	h := sha256.New()
	for _, t := range tools {
		for _, s := range []string{t.Name, t.Description, string(t.Schema)} {
			h.Write([]byte(s))
			h.Write([]byte{0})
		}
	}
	hash := hex.EncodeToString(h.Sum(nil)[:8])
	if !r.tools[hash] {
		r.tools[hash] = true
		r.add(Entry{Kind: KindTools, Tools: &ToolSet{Hash: hash, Tools: tools}})
	}
	return hash
}

// recordMessage writes a message once and returns its number. The caller holds the lock.
func (r *runWriter) recordMessage(m llm.Message) int {
	key := r.hash(m)
	if n, known := r.messages[key]; known {
		return n
	}
	n := r.count
	r.messages[key] = n
	r.count++
	out := r.message(m)
	r.add(Entry{Kind: KindMessage, Message: &out})
	return n
}

// hash identifies a message within a run.
func (r *runWriter) hash(m llm.Message) uint64 {
	var h maphash.Hash
	h.SetSeed(r.seed)
	field := func(b ...string) {
		for _, s := range b {
			h.WriteString(s)
			h.WriteByte(0)
		}
	}
	field(string(m.Role))
	for _, p := range m.Parts {
		field("part", p.Text)
		if p.Image != nil {
			h.Write(p.Image.Data)
		}
		if p.Call != nil {
			field("call", p.Call.ID, p.Call.Name, p.Call.Malformed)
			h.Write(p.Call.Input)
		}
		if p.Result != nil {
			field("result", p.Result.ID, p.Result.Text)
			for _, im := range p.Result.Images {
				h.Write(im.Data)
			}
		}
		if p.Opaque != nil {
			field("opaque", p.Opaque.Owner)
			h.Write(p.Opaque.Data)
		}
	}
	return h.Sum64()
}

// recordReply writes the call. It first learns what the call types into password fields.
func (r *runWriter) recordReply(call *ModelCall, reply llm.Reply, err error, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		call.Error = modelFailure(err)
	} else {
		r.typed = r.typed[:0]
		for _, c := range reply.Calls() {
			r.learnTyped(c)
		}
		m := r.message(reply.Message)
		call.Reply, call.Stop, call.Usage = &m, reply.Stop, reply.Usage
	}
	r.add(Entry{Kind: KindCall, Millis: milliseconds(took), Call: call})
}

// learnTyped remembers the texts that a call types. The caller holds the lock.
func (r *runWriter) learnTyped(c llm.ToolCall) {
	var input struct {
		Ref  string `json:"ref"`
		Text string `json:"text"`
	}
	if json.Unmarshal(c.Input, &input) != nil || input.Text == "" {
		return
	}
	r.typed = append(r.typed, typedText{c.Name, input.Ref, input.Text})
	if r.hidden[agent.NormalizeRef(input.Ref)] {
		r.learnPassword(input.Text)
	}
}

// canonicalJSON returns raw in a canonical form, in which secrets can be found.
func canonicalJSON(raw json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	out, err := llm.MarshalJSON(v)
	if err != nil {
		return nil
	}
	return out
}

func modelFailure(err error) *ModelFailure {
	f := &ModelFailure{Text: err.Error()}
	if e := (*llm.Error)(nil); errors.As(err, &e) {
		f.Kind = e.Kind
	}
	return f
}

// ComputerUseModel returns m wrapped so that its turns are recorded.
func (r *Recorder) ComputerUseModel(m computeruse.Model) computeruse.Model {
	return &recordedScreenModel{Model: m, recorder: r}
}

type recordedScreenModel struct {
	computeruse.Model

	recorder *Recorder
}

func (m *recordedScreenModel) Begin(b computeruse.ConversationOptions) (computeruse.Conversation, error) {
	t, err := m.Model.Begin(b)
	if err != nil {
		return nil, err
	}
	return &recordedConversation{Conversation: t, model: m, brief: b}, nil
}

type recordedConversation struct {
	computeruse.Conversation

	model *recordedScreenModel
	brief computeruse.ConversationOptions
}

func (t *recordedConversation) Next(ctx context.Context, in computeruse.Input) (computeruse.Turn, error) {
	run := t.model.recorder.runOf(ctx)
	if run == nil {
		return t.Conversation.Next(ctx, in)
	}
	begun := t.model.recorder.now()
	answer, err := t.Conversation.Next(ctx, in)
	run.recordTurn(t.model.Name(), t.brief, in, answer, err, t.model.recorder.millisSince(begun))
	return answer, err
}

func (r *runWriter) recordTurn(name string, b computeruse.ConversationOptions, in computeruse.Input,
	answer computeruse.Turn, failed error, took float64,
) {
	r.mu.Lock()
	defer r.mu.Unlock()
	turn := &ScreenTurn{Model: name}
	if !r.systemWritten || r.system != b.System {
		r.systemWritten, r.system = true, b.System
		r.recordTools(b.Tools)
	}
	turn.Input = encodeCanonical(r.input(in))
	if failed != nil {
		turn.Error = modelFailure(failed)
	} else {
		r.typed = r.typed[:0]
		for _, c := range answer.Calls {
			for _, a := range c.Actions {
				if a.Kind == computeruse.ActType || a.Kind == computeruse.ActFill {
					r.typed = append(r.typed, typedText{text: a.Text})
				}
			}
		}
		for _, c := range answer.Tools {
			r.learnTyped(c)
		}
		turn.Answer = encodeCanonical(answer)
	}
	r.add(Entry{Kind: KindTurn, Millis: took, Turn: turn})
}

// input returns in with references to its images. The caller holds the lock.
func (r *runWriter) input(in computeruse.Input) computeruse.Input {
	if in.Shot != nil {
		shot := *in.Shot
		shot.Image = *r.image(&shot.Image)
		in.Shot = &shot
	}
	outcomes := in.Outcomes
	in.Outcomes = nil
	for _, o := range outcomes {
		o.Image = r.image(o.Image)
		in.Outcomes = append(in.Outcomes, o)
	}
	results := in.Results
	in.Results = nil
	for _, res := range results {
		m := r.message(llm.Message{Parts: []llm.Part{{Result: &res}}})
		in.Results = append(in.Results, *m.Parts[0].Result)
	}
	return in
}

// encodeCanonical returns v as JSON in the form of [canonicalJSON].
func encodeCanonical(v any) json.RawMessage {
	raw, err := llm.MarshalJSON(v)
	if err != nil {
		return nil
	}
	return canonicalJSON(raw)
}
