package runs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/maphash"
	"time"

	"clank/llm"
	"clank/sessions/working"
)

// Model is m, recorded.
func (r *Recorder) Model(m llm.Model) llm.Model { return &model{Model: m, recorder: r} }

type model struct {
	llm.Model

	recorder *Recorder
}

// Generate implements [llm.Model].
func (m *model) Generate(ctx context.Context, req llm.Request, onDelta func(llm.Delta)) (llm.Reply, error) {
	run := m.recorder.of(ctx)
	if run == nil {
		return m.Model.Generate(ctx, req, onDelta)
	}
	call := run.asked(req)
	call.Model, call.Caps, call.Purpose = m.Name(), m.Caps(), llm.AccountOf(ctx).Purpose
	begun := m.recorder.now()
	reply, err := m.Model.Generate(ctx, req, onDelta)
	run.answered(call, reply, err, m.recorder.now().Sub(begun))
	return reply, err
}

// asked writes what of a request is new, and returns it as an entry names it.
func (r *run) asked(req llm.Request) *Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	call := &Call{MaxTokens: req.MaxTokens, Messages: make([]int, 0, len(req.Messages))}
	if !r.told || req.System != r.system {
		r.told, r.system = true, req.System
		call.System = &req.System
	}
	call.Tools = r.offered(req.Tools)
	for _, m := range req.Messages {
		call.Messages = append(call.Messages, r.number(m))
	}
	return call
}

// offered writes a set of tools, once, and returns its hash. The run is locked.
func (r *run) offered(tools []llm.Tool) string {
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
		r.add(Entry{Kind: KindTools, Tools: &Tools{Hash: hash, Tools: tools}})
	}
	return hash
}

// number writes a message, once, and returns its number. The run is locked.
func (r *run) number(m llm.Message) int {
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

// hash tells messages of one run apart.
func (r *run) hash(m llm.Message) uint64 {
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

// answered writes the call. What it types into password fields is learned first.
func (r *run) answered(call *Call, reply llm.Reply, err error, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		call.Error = failure(err)
	} else {
		r.typed = r.typed[:0]
		for _, c := range reply.Calls() {
			r.types(c)
		}
		m := r.message(reply.Message)
		call.Reply, call.Stop, call.Usage = &m, reply.Stop, reply.Usage
	}
	r.add(Entry{Kind: KindCall, Millis: millis(took), Call: call})
}

// types remembers what a call types. The run is locked.
func (r *run) types(c llm.ToolCall) {
	var input struct {
		Ref  string `json:"ref"`
		Text string `json:"text"`
	}
	if json.Unmarshal(c.Input, &input) != nil || input.Text == "" {
		return
	}
	r.typed = append(r.typed, typed{c.Name, input.Ref, input.Text})
	if r.hidden[working.BareRef(input.Ref)] {
		r.learn(input.Text)
	}
}

// canonical is JSON in one spelling, in which secrets are found.
func canonical(raw json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func failure(err error) *Failure {
	f := &Failure{Text: err.Error()}
	if e := (*llm.Error)(nil); errors.As(err, &e) {
		f.Kind = e.Kind
	}
	return f
}
