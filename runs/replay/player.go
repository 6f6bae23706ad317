// Package replay plays a recorded run on live pages: a [Player] stands where the
// model stood and gives the recorded answers, the same backend does what they
// say, and what comes of it is compared with the record.
//
// It needs no model and no key. It opens no browser: the backend and its browser
// come from the program that wires it, so that its policies and questions hold.
package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"sync"

	"clank/browsermgr/outline"
	"clank/computeruse"
	"clank/llm"
	"clank/runs"
	"clank/sessions"
)

// Mapping says that what was at addresses which begin with From is now at To.
type Mapping struct{ From, To string }

// ParseMappings reads "http://old.example=http://localhost:8080", several with
// commas between them.
func ParseMappings(s string) ([]Mapping, error) {
	var list []Mapping
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		from, to, found := strings.Cut(part, "=")
		m := Mapping{strings.TrimSuffix(strings.TrimSpace(from), "/"), strings.TrimSuffix(strings.TrimSpace(to), "/")}
		if !found || !isAddress(m.From) || !isAddress(m.To) {
			return nil, fmt.Errorf("%q is not understood; write http://old.example=http://localhost:8080", part)
		}
		list = append(list, m)
	}
	return list, nil
}

func isAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// Player gives the answers of a run. It is used for one replay.
type Player struct {
	mappings []Mapping
	begin    runs.Begin
	calls    []call // with an answer
	turns    []turn
	acts     []act // that were done, in order

	mu   sync.Mutex
	next int                   // call or turn
	live string                // state of the page, as it was last seen
	gone map[string]Difference // what find has said, by the input of the call
}

// Places says where the places are now that people have names for: those of the
// record are mapped to them. It is called before [Player.Run].
func (p *Player) Places(now map[string]string) {
	for name, was := range p.begin.Places {
		if is := now[name]; is != "" && is != was {
			p.mappings = append(p.mappings, Mapping{strings.TrimSuffix(was, "/"), strings.TrimSuffix(is, "/")})
		}
	}
}

// call is an answer of the model, and what it knew of the elements of the page.
type call struct {
	runs.Call

	elements map[string]outline.Ref
}

type turn struct {
	answer computeruse.Turn
	model  string
	shot   *computeruse.Shot
}

// act is an act as it ended, and the state of the page then.
type act struct {
	sessions.Step

	state string
}

// ErrNothing says that a record has no answers that could be given again.
var ErrNothing = errors.New("no answer of a model was recorded, so there is nothing to replay")

// New returns a player of the run.
func New(b *runs.Bundle, mappings []Mapping) (*Player, error) {
	p := &Player{mappings: mappings, begin: b.Begin(), gone: make(map[string]Difference)}
	elements := make(map[string]outline.Ref)
	state, purpose := "", ""
	for _, e := range b.Entries {
		switch e.Kind { //nolint:exhaustive // the others are not needed
		case runs.KindSnapshot:
			if e.Snapshot.Same || e.Snapshot.Error != "" {
				continue
			}
			if !e.Snapshot.Interactive {
				state = e.Snapshot.Text
			}
			elements = known(elements, e.Snapshot.Text)
		case runs.KindCall:
			if len(p.calls) == 0 {
				purpose = e.Call.Purpose
			}
			if e.Call.Reply != nil && e.Call.Purpose == purpose {
				p.calls = append(p.calls, call{*e.Call, elements})
			}
		case runs.KindTurn:
			if err := p.addTurn(*e.Turn); err != nil {
				return nil, err
			}
		case runs.KindStep:
			if e.Step.Kind == sessions.StepAct && e.Step.Phase == sessions.Done {
				p.acts = append(p.acts, act{*e.Step, state})
			}
		}
	}
	if len(p.calls) == 0 && len(p.turns) == 0 {
		return nil, ErrNothing
	}
	return p, nil
}

// known is a copy of the elements, with those of a newer state.
func known(elements map[string]outline.Ref, text string) map[string]outline.Ref {
	all := make(map[string]outline.Ref, len(elements))
	maps.Copy(all, elements)
	for _, r := range outline.Refs(text) {
		all[r.Ref] = r
	}
	return all
}

func (p *Player) addTurn(t runs.Turn) error {
	if t.Answer == nil {
		return nil
	}
	var in computeruse.Input
	out := turn{model: t.Model}
	if err := errors.Join(json.Unmarshal(t.Input, &in), json.Unmarshal(t.Answer, &out.answer)); err != nil {
		return fmt.Errorf("replay: a turn of the record cannot be read: %w", err)
	}
	out.shot = in.Shot
	p.turns = append(p.turns, out)
	return nil
}

// Screen reports whether the run was worked by a model that sees the screen: then
// the backend takes [Player.Mind], and else [Player.Model].
func (p *Player) Screen() bool { return len(p.calls) == 0 }

// Task is what the backend is to be given.
func (p *Player) Task() sessions.Task {
	t := p.begin.Task
	t.MaxSteps = len(p.calls) + len(p.turns) + 1
	t.Model, t.Profile, t.SessionID = "", "", ""
	return t
}

// to is an address or a text of the record with the addresses of today.
func (p *Player) to(s string) string {
	for _, m := range p.mappings {
		s = strings.ReplaceAll(s, m.From, m.To)
	}
	return s
}

// toLabel is to for labels, which show addresses without their schemes.
func (p *Player) toLabel(s string) string {
	s = p.to(s)
	for _, m := range p.mappings {
		s = strings.ReplaceAll(s, bare(m.From), bare(m.To))
	}
	return s
}

func bare(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	return rest
}

// saw takes in the state of the live page.
func (p *Player) saw(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live = text
}

// errWithheld ends a replay.
var errWithheld = errors.New("the run typed a password here, which no record holds: the replay ends (keep the login in the vault, and let it be filled in from there)")

// lost stands for the ref of an element that is not on the live page.
const lost = "missing"

// adapt is a recorded call with the refs and addresses of today. The player is
// locked.
func (p *Player) adapt(c llm.ToolCall, elements map[string]outline.Ref) (llm.ToolCall, error) {
	var input map[string]any
	if len(c.Input) == 0 || c.Malformed != "" {
		return c, nil
	}
	if err := json.Unmarshal(c.Input, &input); err != nil {
		return c, fmt.Errorf("replay: the input of a recorded call of %s cannot be read: %w", c.Name, err)
	}
	var differs *Difference
	if text, ok := input["text"].(string); ok && text == runs.Mask {
		return c, errWithheld
	}
	if at, ok := input["url"].(string); ok {
		input["url"] = p.to(at)
	}
	if ref, ok := input["ref"].(string); ok && ref != "" {
		now, diff := p.find(strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(ref, "@"), "ref=")), elements)
		input["ref"], differs = now, diff
	}
	raw, err := json.Marshal(input)
	if err != nil {
		return c, fmt.Errorf("replay: %w", err)
	}
	c.Input = raw
	delete(p.gone, string(raw))
	if differs != nil {
		p.gone[string(raw)] = *differs
	}
	return c, nil
}

// find returns the ref of today for an element of the record: the one with the
// same role and name, and of several the one at the same place among them.
func (p *Player) find(ref string, elements map[string]outline.Ref) (string, *Difference) {
	was, ok := elements[ref]
	if !ok {
		return lost, &Difference{Kind: Missing, Was: ref, Is: "the record does not say what it was"}
	}
	var alike []outline.Ref
	other := 0
	for _, r := range outline.Refs(p.live) {
		switch {
		case r.Role == was.Role && r.Name == was.Name:
			if r.Nth == was.Nth {
				return r.Ref, nil
			}
			other++
		case r.Name == was.Name && r.Name != "":
			alike = append(alike, r)
		}
	}
	if len(alike) == 1 && other == 0 {
		return alike[0].Ref, &Difference{Kind: Label, Was: describe(was), Is: describe(alike[0])}
	}
	is := "there is none on the page"
	if other > 0 {
		is = fmt.Sprintf("there are only %d on the page", other)
	}
	return lost, &Difference{Kind: Missing, Was: describe(was), Is: is}
}

func describe(r outline.Ref) string {
	s := r.Role
	if r.Name != "" {
		s += fmt.Sprintf(" %q", r.Name)
	}
	if r.Dup {
		s += fmt.Sprintf(" (number %d)", r.Nth+1)
	}
	return s
}
