package discordtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/internal/test/discordtest"
)

// room is a channel that a bot may write to.
type room struct {
	*discordtest.Server
	channel discordtest.Channel
	app     string
}

func newRoom(tb testing.TB) room {
	tb.Helper()
	s := discordtest.StartTest(tb, discordtest.Config{})
	app := s.CreateBot("clank", "secret").User
	return room{s, s.CreateChannel(s.CreateGuild("home", app), "general"), app.ID}
}

// post sends a body to the messages of the room and returns status and answer.
func post(t *testing.T, w room, body string) (int, string) {
	t.Helper()
	return send(t, "POST", w.URL+"/api/v9/channels/"+w.channel.ID+"/messages", body)
}

func send(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	check.Must(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bot secret")
	resp, err := http.DefaultClient.Do(req)
	check.Must(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	check.Must(t, err)
	return resp.StatusCode, string(answer)
}

func many(n int, text string) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }

const button = `{"type":2,"style":1,"label":"b","custom_id":"b#"}`

const (
	choice = `{"label":"c","value":"c"}`
	menu   = `{"type":3,"custom_id":"m","options":[` + choice + `]}`
)

func menuOf(options string) string { return strings.Replace(menu, choice, options, 1) }

const linkless = `{"type":2,"style":5,"label":"b"}`

func row(parts string) string { return `{"type":1,"components":[` + parts + `]}` }

func TestMessagesBeyondTheLimitAreRefusedByField(t *testing.T) {
	w := newRoom(t)
	long := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct{ body, field, code string }{
		"content":  {`{"content":"` + long(2001) + `"}`, "content", "BASE_TYPE_MAX_LENGTH"},
		"six rows": {`{"components":[` + many(6, row(button)) + `]}`, "components", "BASE_TYPE_BAD_LENGTH"},
		"six buttons": {
			`{"components":[` + row(many(6, button)) + `]}`, "components.0.components",
			"BASE_TYPE_BAD_LENGTH",
		},
		"empty row":    {`{"components":[` + row("") + `]}`, "components.0.components", "BASE_TYPE_BAD_LENGTH"},
		"button alone": {`{"components":[` + button + `]}`, "components.0.type", "BASE_TYPE_CHOICES"},
		"custom id": {
			`{"components":[` + row(`{"type":2,"style":1,"label":"b","custom_id":"`+long(101)+`"}`) + `]}`,
			"components.0.components.0.custom_id", "BASE_TYPE_BAD_LENGTH",
		},
		"no custom id": {
			`{"components":[` + row(`{"type":2,"style":1,"label":"b"}`) + `]}`,
			"components.0.components.0.custom_id", "BASE_TYPE_REQUIRED",
		},
		"custom id twice": {
			`{"components":[` + row(button+","+button) + `]}`, "components.0.components.1.custom_id",
			"COMPONENT_CUSTOM_ID_DUPLICATED",
		},
		"label": {
			`{"components":[` + row(`{"type":2,"style":1,"custom_id":"b","label":"`+long(81)+`"}`) + `]}`,
			"components.0.components.0.label", "BASE_TYPE_MAX_LENGTH",
		},
		"no label": {
			`{"components":[` + row(`{"type":2,"style":1,"custom_id":"b"}`) + `]}`,
			"components.0.components.0", "BUTTON_COMPONENT_INVALID_LABEL",
		},
		"style": {
			`{"components":[` + row(`{"type":2,"style":9,"label":"b","custom_id":"b"}`) + `]}`,
			"components.0.components.0.style", "BASE_TYPE_CHOICES",
		},
		"link without url": {`{"components":[` + row(linkless) + `]}`, "components.0.components.0.url", "BASE_TYPE_REQUIRED"},
		"menu and button": {
			`{"components":[` + row(menu+","+button) + `]}`, "components.0.components",
			"COMPONENT_LAYOUT_WIDTH_EXCEEDED",
		},
		"many choices": {
			`{"components":[` + row(menuOf(many(26, choice))) + `]}`, "components.0.components.0.options",
			"BASE_TYPE_BAD_LENGTH",
		},
		"choice twice": {
			`{"components":[` + row(menuOf(choice+","+choice)) + `]}`,
			"components.0.components.0.options.1.value", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
		},
		"layout and words": {
			`{"flags":32768,"content":"x","components":[{"type":10,"content":"y"}]}`, "content",
			"MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
		},
		"large layout": {
			`{"flags":32768,"components":[` + many(41, `{"type":10,"content":"y"}`) + `]}`, "components",
			"BASE_TYPE_BAD_LENGTH",
		},
		"layout unasked":   {`{"components":[{"type":10,"content":"y"}]}`, "components.0.type", "BASE_TYPE_CHOICES"},
		"wrong type":       {`{"content":5}`, "content", "BASE_TYPE_CONVERT"},
		"wrong inner type": {`{"components":[{"type":true}]}`, "components.type", "BASE_TYPE_CONVERT"},
	} {
		status, answer := post(t, w, c.body)
		if got := firstComplaint(t, answer, c.field); status != 400 || got != c.code {
			t.Errorf("%s: got HTTP %d %s, want %s at %s", name, status, answer, c.code, c.field)
		}
	}
	check.Equal(t, "messages", len(w.Messages(w.channel)), 0)
}

// firstComplaint returns the first error code of an answer at a dotted path.
func firstComplaint(t *testing.T, answer, path string) string {
	t.Helper()
	var e struct {
		Code   int            `json:"code"`
		Errors map[string]any `json:"errors"`
	}
	check.Must(t, json.Unmarshal([]byte(answer), &e))
	if e.Code != 50035 {
		return strconv.Itoa(e.Code)
	}
	return complaint(e.Errors, path)
}

func TestTranslationsOfCommandsAreCheckedAsTheOriginals(t *testing.T) {
	w := newRoom(t)
	url := w.URL + "/api/v9/applications/" + w.app + "/commands"
	long := strings.Repeat("x", 101)
	for name, c := range map[string]struct{ parts, field, code string }{
		"capitals": {`"name_localizations":{"de":"Suche"}`, "name_localizations.de", "APPLICATION_COMMAND_INVALID_NAME"},
		"a space": {
			`"name_localizations":{"fr":"deux mots"}`, "name_localizations.fr",
			"APPLICATION_COMMAND_INVALID_NAME",
		},
		"a long name": {
			`"name_localizations":{"fr":"` + long[:33] + `"}`, "name_localizations.fr",
			"APPLICATION_COMMAND_INVALID_NAME",
		},
		"a locale": {`"name_localizations":{"es":"x"}`, "name_localizations.es", "BASE_TYPE_CHOICES"},
		"a long description": {
			`"description_localizations":{"ja":"` + long + `"}`, "description_localizations.ja", "BASE_TYPE_BAD_LENGTH",
		},
		"a name twice": {
			`"options":[{"type":3,"name":"a","description":"d","name_localizations":{"de":"x"}},` +
				`{"type":3,"name":"b","description":"d","name_localizations":{"de":"x"}}]`,
			"options.1.name_localizations.de", "APPLICATION_COMMAND_OPTIONS_NAME_INVALID",
		},
		"a choice": {
			`"options":[{"type":3,"name":"a","description":"d","choices":[{"name":"c","value":"v","name_localizations":{"de":""}}]}]`,
			"options.0.choices.0.name_localizations.de", "BASE_TYPE_REQUIRED",
		},
	} {
		status, answer := send(t, "PUT", url, `[{"name":"a","description":"d",`+c.parts+`}]`)
		if got := firstComplaint(t, answer, "0."+c.field); status != 400 || got != c.code {
			t.Errorf("%s: got HTTP %d %s, want %s at %s", name, status, answer, c.code, c.field)
		}
	}
	if status, answer := send(t, "PUT", url,
		`[{"name":"a","description":"d","name_localizations":{"ja":"あ","es-419":"ñ"}}]`); status != 200 {
		t.Fatalf("got HTTP %d %s", status, answer)
	}
	if _, bare := send(t, "GET", url, ""); strings.Contains(bare, "あ") {
		t.Errorf("translations that nobody asked for: %s", bare)
	}
	if _, whole := send(t, "GET", url+"?with_localizations=true", ""); !strings.Contains(whole, "あ") {
		t.Errorf("no translations: %s", whole)
	}
}

// complaint finds the first error code at a dotted path.
func complaint(errors map[string]any, path string) string {
	for step := range strings.SplitSeq(path, ".") {
		errors, _ = errors[step].(map[string]any)
	}
	list, _ := errors["_errors"].([]any)
	if len(list) == 0 {
		return ""
	}
	first, _ := list[0].(map[string]any)
	return fmt.Sprint(first["code"])
}

func TestEmptyAndBrokenMessagesAreRefused(t *testing.T) {
	w := newRoom(t)
	for body, want := range map[string]string{
		`{}`:                    `"code":50006`,
		`{"content":"  "}`:      `"code":50006`,
		`{"content":`:           `"code":50109`,
		`[]`:                    `"code":50035`,
		`{"components":"none"}`: `"code":50035`,
	} {
		if status, answer := post(t, w, body); status != 400 || !strings.Contains(answer, want) {
			t.Errorf("%s: got HTTP %d %s, want %s", body, status, answer, want)
		}
	}
}

func FuzzMessageBody(f *testing.F) {
	f.Add(`{"content":"x"}`)
	f.Add(`{"components":[{"type":1,"components":[{"type":2}]}]}`)
	f.Add(`{"attachments":[{"id":0}],"allowed_mentions":{"parse":["users"]},"message_reference":{"message_id":"1"}}`)
	f.Add(`[{"`)
	w := newRoom(f)
	f.Fuzz(func(t *testing.T, body string) {
		status, answer := post(t, w, body)
		if status != 200 && status != 400 {
			t.Errorf("got HTTP %d %s, want 200 or 400", status, answer)
		}
		if !json.Valid([]byte(answer)) {
			t.Errorf("got answer %q, want JSON", answer)
		}
	})
}
