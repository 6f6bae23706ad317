package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// ErrConflict means that someone else saved settings after the version that a change was based on. Nothing was
// changed; [Manager.State] holds the newer settings.
var ErrConflict = errors.New("the settings were changed by somebody else in the meantime")

// Store stores the values that differ from their defaults, by key.
//
// LoadSettings returns no values and the version "" if nothing was ever saved. SaveSettings replaces all values if
// the stored version is still expectVersion, and returns the new version; otherwise it changes nothing and its error
// wraps [ErrConflict]. A version is never reused.
type Store interface {
	LoadSettings(ctx context.Context) (values map[string]json.RawMessage, version string, err error)
	SaveSettings(ctx context.Context, values map[string]json.RawMessage, expectVersion string) (version string, err error)
}

// Manager manages the settings of a running program. Set the exported fields, then call Open; after that all methods
// are safe for concurrent use.
type Manager struct {
	Store     Store
	Log       *slog.Logger
	Providers []string // valid prefixes of model names; nil allows any
	// Check, if set, returns the errors in a combination of individually valid settings. A change that causes a new
	// error is refused.
	Check func(Settings) []FieldError
	// Guilds stores the settings of Discord servers; nil disables them.
	Guilds GuildStore
	// ServerModels returns the models that a server may choose from under the operator's settings; nil means none.
	ServerModels func(Settings) []string

	state  atomic.Pointer[State]
	guilds atomic.Pointer[map[string]GuildValues]
	mu     sync.Mutex // held while saving, so that versions are applied in order
}

// State is the settings at one moment. It must not be modified.
type State struct {
	Settings Settings
	Version  string
	Stored   map[string]json.RawMessage // values that differ from the defaults, and unknown ones
	Problems []FieldError               // stored values that are ignored, and why
}

// Open loads the stored settings. An unknown or invalid stored value does not prevent the start: its default is used,
// it is logged and listed in [State.Problems], and it stays stored.
func (l *Manager) Open(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	st, err := l.load(ctx)
	if err != nil {
		return err
	}
	for _, p := range st.Problems {
		l.Log.Warn("stored setting is not used", "key", p.Key, "value", p.Value, "why", p.Why)
	}
	l.state.Store(st)
	return l.openGuilds(ctx)
}

// Reload loads what another process has saved.
func (l *Manager) Reload(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	st, err := l.load(ctx)
	if err == nil {
		l.state.Store(st)
	}
	return err
}

// Current returns the current settings, or the defaults before Open. It takes no lock.
func (l *Manager) Current() Settings { return l.State().Settings }

// State returns the settings with their version and problems.
func (l *Manager) State() State {
	if st := l.state.Load(); st != nil {
		return *st
	}
	return State{Settings: Defaults()}
}

// Update checks all changes, saves them and applies them at once; if one fails it changes nothing. A change is the
// JSON form of a field's value, or null for its default. expectVersion is the version that the changes are based on.
// The error is an [*InvalidError], wraps [ErrConflict], or comes from the store.
func (l *Manager) Update(ctx context.Context, changes map[string]json.RawMessage,
	expectVersion string,
) (Settings, string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.State()
	if err := l.check(changes, before.Stored); err != nil {
		return before.Settings, before.Version, err
	}
	if expectVersion != before.Version {
		return before.Settings, before.Version, fmt.Errorf("update settings: %w", ErrConflict)
	}
	stored := mergeStored(before.Stored, changes)
	if bad := l.newProblems(before.Settings, l.parseStored(stored, "").Settings); len(bad) > 0 {
		return before.Settings, before.Version, &InvalidError{Fields: bad}
	}
	version, err := l.Store.SaveSettings(ctx, stored, expectVersion)
	if errors.Is(err, ErrConflict) {
		return l.reloadAfterConflict(ctx, err)
	}
	if err != nil {
		return before.Settings, before.Version, fmt.Errorf("save settings: %w", err)
	}
	st := l.parseStored(stored, version)
	l.state.Store(st)
	return st.Settings, st.Version, nil
}

// Replace is like Update but makes intent the complete set of values set by hand: other settings return to their
// default or the preset's value.
func (l *Manager) Replace(ctx context.Context, intent map[string]json.RawMessage,
	expectVersion string,
) (Settings, string, error) {
	changes := maps.Clone(intent)
	if changes == nil {
		changes = make(map[string]json.RawMessage)
	}
	named := make(map[string]bool, len(intent))
	for key := range intent {
		named[canonicalKey(key)] = true
	}
	for key := range l.State().Stored { // if the state has changed since expectVersion, Update refuses it
		if !named[key] {
			changes[key] = json.RawMessage("null")
		}
	}
	return l.Update(ctx, changes, expectVersion)
}

// mergeStored returns the stored values after changes. Values equal to the default or the preset's are left out.
func mergeStored(before, changes map[string]json.RawMessage) map[string]json.RawMessage {
	stored := maps.Clone(before)
	if stored == nil {
		stored = make(map[string]json.RawMessage)
	}
	for key, raw := range changes {
		f, _ := FindField(key)
		if key = canonicalKey(key); isNull(raw) {
			delete(stored, key)
		} else {
			stored[key] = canonicalJSON(f, raw)
		}
	}
	base := PresetDefaults(storedPreset(stored))
	base.Preset = PresetNone
	for key := range changes {
		if f, known := FindField(key); known && bytes.Equal(stored[f.Key], f.JSON(base)) {
			delete(stored, f.Key)
		}
	}
	return stored
}

// canonicalKey resolves an alias of a setting's key.
func canonicalKey(name string) string {
	if f, ok := FindField(name); ok {
		return f.Key
	}
	return name
}

// storedPreset returns the preset among stored values.
func storedPreset(stored map[string]json.RawMessage) string {
	f, _ := FindField(presetKey)
	v, err := f.decode(stored[presetKey], nil)
	name, ok := v.(string)
	if err != nil || !ok {
		return PresetNone
	}
	return name
}

// newProblems returns the errors that Check finds in after but not in before.
func (l *Manager) newProblems(before, after Settings) []FieldError {
	if l.Check == nil {
		return nil
	}
	old := l.Check(before)
	return slices.DeleteFunc(l.Check(after), func(e FieldError) bool { return slices.Contains(old, e) })
}

// reloadAfterConflict loads what another process saved, so that the person who reads of the conflict sees it. The
// caller holds the lock.
func (l *Manager) reloadAfterConflict(ctx context.Context, conflict error) (Settings, string, error) {
	st, err := l.load(ctx)
	if err != nil {
		before := l.State()
		return before.Settings, before.Version, errors.Join(conflict, err)
	}
	l.state.Store(st)
	return st.Settings, st.Version, fmt.Errorf("update settings: %w", conflict)
}

func (l *Manager) load(ctx context.Context) (*State, error) {
	stored, version, err := l.Store.LoadSettings(ctx)
	if err != nil {
		return nil, fmt.Errorf("load settings: %w", err)
	}
	return l.parseStored(stored, version), nil
}

// parseStored converts stored values to settings, ignoring invalid ones.
func (l *Manager) parseStored(stored map[string]json.RawMessage, version string) *State {
	st := &State{Settings: PresetDefaults(storedPreset(stored)), Version: version, Stored: stored}
	closed := false // the network rules are damaged, so block everything
	nobody := false // the rules about who may use clank are damaged, so admit nobody
	for _, key := range slices.Sorted(maps.Keys(stored)) {
		v, err := l.decode(key, stored[key])
		if err != nil {
			st.Problems = append(st.Problems, FieldError{Key: key, Value: shortValue(stored[key]), Why: err.Error()})
			if _, known := FindField(key); known && strings.HasPrefix(key, networkKeys) {
				closed = true
			}
			if slices.Contains(admissionKeys, key) {
				nobody = true
			}
			if key == overrideKey {
				// tasks are refused with it, instead of being done otherwise
				st.Settings.Runtime = strings.Trim(shortValue(stored[key]), `"`)
			}
			continue
		}
		f, _ := FindField(key)
		f.assign(&st.Settings, v)
	}
	if closed {
		st.Settings.NetworkAccess.HostAllowlist = damagedRules
	}
	if nobody {
		st.Settings.Access.People = unreadableID
	}
	return st
}

// admissionKeys are the settings that say who may use clank, and with which logins.
var admissionKeys = []string{accessKeys + "guilds", accessKeys + "channels", accessKeys + "people", accessKeys +
	"direct", accessKeys + "profiles"}

// damagedRules is the only allowed host when network rules are damaged, so that pages can reach nothing.
const damagedRules = "a-stored-rule-is-damaged.invalid"

// check returns an InvalidError that lists the invalid changes. Stored values can always be reset, even if this
// version does not know them.
func (l *Manager) check(changes, stored map[string]json.RawMessage) error {
	var bad []FieldError
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		if isNull(changes[key]) {
			f, known := FindField(key)
			if _, there := stored[key]; there || known && f.Kind != KindSecret {
				continue
			}
		}
		if _, err := l.decode(key, changes[key]); err != nil {
			value := shortValue(changes[key])
			if f, known := FindField(key); known && f.Kind == KindSecret {
				value = "(not shown)" // errors are logged
			}
			bad = append(bad, FieldError{Key: key, Value: value, Why: err.Error()})
		}
	}
	if bad == nil {
		return nil
	}
	return &InvalidError{Fields: bad}
}

func (l *Manager) decode(key string, raw json.RawMessage) (any, error) {
	f, ok := FindField(key)
	if !ok {
		return nil, errors.New("is not a setting of this version")
	}
	return f.decode(raw, l.Providers)
}

// canonicalJSON returns raw in the form in which it is stored, which is the same for equal values.
func canonicalJSON(f Field, raw json.RawMessage) json.RawMessage {
	v, err := f.decode(raw, nil)
	if err != nil {
		return raw
	}
	return encodeValue(v)
}
