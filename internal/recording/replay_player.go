package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"sync"

	"clank/browsermgr/page/outline"
	"clank/computeruse"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

// AddressMapping maps addresses that begin with From to addresses that begin with To.
type AddressMapping struct{ From, To string }

// ParseMappings parses "http://old.example=http://localhost:8080"; several mappings are separated by commas.
func ParseMappings(s string) ([]AddressMapping, error) {
	var list []AddressMapping
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		from, to, found := strings.Cut(part, "=")
		m := AddressMapping{strings.TrimSuffix(strings.TrimSpace(from), "/"), strings.TrimSuffix(strings.TrimSpace(to), "/")}
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

// Player replays the answers of a run. It is used for one replay.
type Player struct {
	mappings []AddressMapping
	begin    RunStart
	calls    []replayCall // calls with an answer
	turns    []replayTurn
	acts     []replayStep // recorded actions, in order

	mu        sync.Mutex
	next      int                   // next call or turn
	liveState string                // last seen state of the live page
	missing   map[string]Difference // elements that findRef did not find, by the input of the call
}

// Places sets the current addresses of named pages, to which those of the record are mapped. Call it before
// [Player.Replay].
func (p *Player) Places(now map[string]string) {
	for name, was := range p.begin.Places {
		if is := now[name]; is != "" && is != was {
			p.mappings = append(p.mappings, AddressMapping{strings.TrimSuffix(was, "/"), strings.TrimSuffix(is, "/")})
		}
	}
}

// replayCall is an answer of the model, and the page elements it knew.
type replayCall struct {
	ModelCall

	elements map[string]outline.Ref
}

type replayTurn struct {
	answer computeruse.Turn
	model  string
	shot   *computeruse.Screenshot
}

// replayStep is an action with its result, and the state of the page after it.
type replayStep struct {
	sessions.Step

	state string
}

// ErrNothingToReplay means that a record contains no answers to replay.
var ErrNothingToReplay = errors.New("no answer of a model was recorded, so there is nothing to replay")

// NewPlayer returns a player of the run.
func NewPlayer(b *Recording, mappings []AddressMapping) (*Player, error) {
	p := &Player{mappings: mappings, begin: b.Start(), missing: make(map[string]Difference)}
	elements := make(map[string]outline.Ref)
	state, purpose := "", ""
	for _, e := range b.Entries {
		switch e.Kind { //nolint:exhaustive // other kinds are not needed
		case KindSnapshot:
			if e.Snapshot.Same || e.Snapshot.Error != "" {
				continue
			}
			if !e.Snapshot.Interactive {
				state = e.Snapshot.Text
			}
			elements = mergeElements(elements, e.Snapshot.Text)
		case KindCall:
			if len(p.calls) == 0 {
				purpose = e.Call.Purpose
			}
			if e.Call.Reply != nil && e.Call.Purpose == purpose {
				p.calls = append(p.calls, replayCall{*e.Call, elements})
			}
		case KindTurn:
			if err := p.addTurn(*e.Turn); err != nil {
				return nil, err
			}
		case KindStep:
			if e.Step.Kind == sessions.StepAct && e.Step.Phase == sessions.PhaseDone {
				p.acts = append(p.acts, replayStep{*e.Step, state})
			}
		}
	}
	if len(p.calls) == 0 && len(p.turns) == 0 {
		return nil, ErrNothingToReplay
	}
	return p, nil
}

// mergeElements returns a copy of elements with those of a newer state added.
func mergeElements(elements map[string]outline.Ref, text string) map[string]outline.Ref {
	all := maps.Clone(elements)
	for _, r := range outline.ListRefs(text) {
		all[r.Ref] = r
	}
	return all
}

func (p *Player) addTurn(t ScreenTurn) error {
	if t.Answer == nil {
		return nil
	}
	var in computeruse.Input
	out := replayTurn{model: t.Model}
	if err := errors.Join(json.Unmarshal(t.Input, &in), json.Unmarshal(t.Answer, &out.answer)); err != nil {
		return fmt.Errorf("replay: a turn of the record cannot be read: %w", err)
	}
	out.shot = in.Shot
	p.turns = append(p.turns, out)
	return nil
}

// UsesScreen reports whether a computer-use model worked on the run; then the backend gets [Player.ComputerUseModel],
// otherwise [Player.Model].
func (p *Player) UsesScreen() bool { return len(p.calls) == 0 }

// Task returns the task to pass to the backend.
func (p *Player) Task() sessions.Task {
	t := p.begin.Task
	t.MaxSteps = len(p.calls) + len(p.turns) + 1
	t.Model, t.Profile, t.SessionID = "", "", ""
	return t
}

// mapAddresses applies the address mappings to a recorded text.
func (p *Player) mapAddresses(s string) string {
	for _, m := range p.mappings {
		s = strings.ReplaceAll(s, m.From, m.To)
	}
	return s
}

// mapLabel is like mapAddresses for labels, which show addresses without their schemes.
func (p *Player) mapLabel(s string) string {
	s = p.mapAddresses(s)
	for _, m := range p.mappings {
		s = strings.ReplaceAll(s, withoutScheme(m.From), withoutScheme(m.To))
	}
	return s
}

func withoutScheme(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	return rest
}

// setLiveState records the state of the live page.
func (p *Player) setLiveState(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.liveState = text
}

// errEffectWithheld ends a replay.
var errEffectWithheld = errors.New("the run typed a password here, which no record holds: the replay ends (keep the " +
	"login in the vault, and let it be filled in from there)")

// missingRef replaces the ref of an element that is not on the live page.
const missingRef = "missing"

// adaptCall returns a recorded call with current refs and addresses. The caller holds the lock.
func (p *Player) adaptCall(c llm.ToolCall, elements map[string]outline.Ref) (llm.ToolCall, error) {
	var input map[string]any
	if len(c.Input) == 0 || c.Malformed != "" {
		return c, nil
	}
	if err := json.Unmarshal(c.Input, &input); err != nil {
		return c, fmt.Errorf("replay: the input of a recorded call of %s cannot be read: %w", c.Name, err)
	}
	var differs *Difference
	if text, ok := input["text"].(string); ok && text == RedactedText {
		return c, errEffectWithheld
	}
	if at, ok := input["url"].(string); ok {
		input["url"] = p.mapAddresses(at)
	}
	if ref, ok := input["ref"].(string); ok && ref != "" {
		now, diff := p.findRef(agent.NormalizeRef(ref), elements)
		input["ref"], differs = now, diff
	}
	raw, err := json.Marshal(input)
	if err != nil {
		return c, fmt.Errorf("replay: %w", err)
	}
	c.Input = raw
	delete(p.missing, string(raw))
	if differs != nil {
		p.missing[string(raw)] = *differs
	}
	return c, nil
}

// findRef returns the current ref of a recorded element: the one with the same role and name and, if there are
// several, the same index among them.
func (p *Player) findRef(ref string, elements map[string]outline.Ref) (string, *Difference) {
	was, ok := elements[ref]
	if !ok {
		return missingRef, &Difference{Kind: DifferenceMissing, Was: ref, Is: "the record does not say what it was"}
	}
	var alike []outline.Ref
	other := 0
	for _, r := range outline.ListRefs(p.liveState) {
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
		return alike[0].Ref, &Difference{Kind: DifferenceLabel, Was: describeElement(was), Is: describeElement(alike[0])}
	}
	is := "there is none on the page"
	if other > 0 {
		is = fmt.Sprintf("there are only %d on the page", other)
	}
	return missingRef, &Difference{Kind: DifferenceMissing, Was: describeElement(was), Is: is}
}

func describeElement(r outline.Ref) string {
	s := r.Role
	if r.Name != "" {
		s += fmt.Sprintf(" %q", r.Name)
	}
	if r.Dup {
		s += fmt.Sprintf(" (number %d)", r.Nth+1)
	}
	return s
}
