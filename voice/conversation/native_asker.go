package conversation

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"clank/sessions"
	"clank/voice"
)

// Why a native model uses no tool, in words for it.
var (
	errNobodySpoke   = errors.New("nobody has spoken yet; wait until somebody asks for something")
	errDifferentAsks = errors.New("nothing was done: several people spoke, and they may not use the same browser and " +
		"logins. Ask that one of them says it again, alone")
)

// heardPeople are the people whom a native model has heard. The zero value is empty; it is safe for concurrent use.
type heardPeople struct {
	mu      sync.Mutex
	origins map[string]sessions.Origin // by the ids of people
	names   map[string]string          // by the same; on a call page many people are one origin
	latest  string
}

func (h *heardPeople) add(p voice.Person, o sessions.Origin) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.origins == nil {
		h.origins, h.names = map[string]sessions.Origin{}, map[string]string{}
	}
	h.origins[p.ID], h.names[p.ID], h.latest = o, cmp.Or(p.Name, h.names[p.ID]), p.ID
}

// name returns the name of a person who was heard; "" if unknown.
func (h *heardPeople) name(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.names[id]
}

// maxSpokenName limits the names that a model is told, in characters.
const maxSpokenName = 40

// asker returns on whose behalf something is done that some people asked for, or anyone who was heard if one of them is
// unknown (""): the person heard last, or else the first. If several people asked, their rights must be equal;
// otherwise it is refused.
func (h *heardPeople) asker(ctx context.Context, by []string, host Host) (sessions.Origin, error) {
	h.mu.Lock()
	origins, latest := maps.Clone(h.origins), h.latest
	h.mu.Unlock()
	if len(by) == 0 || slices.Contains(by, "") {
		by = slices.Sorted(maps.Keys(origins))
	}
	if len(by) == 0 {
		return sessions.Origin{}, errNobodySpoke
	}
	who := by[0]
	if slices.Contains(by, latest) {
		who = latest
	}
	asker, known := origins[who]
	if !known {
		return sessions.Origin{}, errNobodySpoke
	}
	for _, id := range by {
		other, known := origins[id]
		one := other.Kind == asker.Kind && other.User == asker.User
		if !known || !one && !host.SameRights(ctx, asker, other) {
			return sessions.Origin{}, errDifferentAsks
		}
	}
	return asker, nil
}
