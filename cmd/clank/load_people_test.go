package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"clank/browseagent/browsertool"
	"clank/dashboard/api"
	"clank/internal/test/discordtest"
	"clank/internal/test/load"
	"clank/sessions"
)

// loadPerson browses through one of the front ends. A visit is a task, or what is about as much: each counts and times
// its own steps and loops.
type loadPerson interface {
	visit(ctx context.Context, n int) error
}

// loopsPerVisit is how often the form is filled in by a task.
const loopsPerVisit = 3

// person returns the k-th person, from 0, and their name.
func (l *loadFixture) person(ctx context.Context, k int) (name string, p loadPerson, err error) {
	doors := strings.Split(*loadFronts, ",")
	kind := doors[k%len(doors)]
	name = fmt.Sprintf("%s-%d", kind, k/len(doors))
	switch kind {
	case "discord":
		who := l.discord.CreateUser(name)
		l.discord.AddMember(l.guild, who)
		return name, &discordPerson{l: l, name: name, user: who, room: l.discord.CreateChannel(l.guild, name)}, nil
	case "chat":
		return name, &chatPerson{l: l, name: name, client: &api.Client{Base: l.page.URL, Token: l.page.Secret}}, nil
	case "api":
		return name, &stepPerson{figures: &l.figures, name: name, site: l.site.URL, door: &apiDoor{call: l.control}}, nil
	}
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	s, err := client.Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: l.mcpURL, HTTPClient: &http.Client{Transport: bearer(l.token)}}, nil)
	if err == nil {
		l.t.Cleanup(func() { _ = s.Close() })
	}
	return name, &stepPerson{figures: &l.figures, name: name, site: l.site.URL, door: &mcpDoor{session: s}}, err
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// discordPerson uses /clank browse in a channel of their own, in one session.
type discordPerson struct {
	l    *loadFixture
	name string
	user discordtest.User
	room discordtest.Channel
}

func (p *discordPerson) visit(ctx context.Context, n int) error {
	args := discordtest.Args{"task": load.Prompt(p.name, n, loopsPerVisit)}
	if n > 0 {
		args["session"] = "last"
	}
	it, err := p.l.discord.SlashCommand(p.room, p.user, "clank browse", args)
	if err != nil {
		return err
	}
	it, err = p.l.discord.WaitInteraction(ctx, it, func(i discordtest.Interaction) bool {
		return i.Answer != 0 && !i.Thinking && i.Original != nil && !i.Original.HasButton("Stop")
	})
	if want := load.Answer(p.name, n); err == nil && !strings.Contains(it.Text(), want) {
		err = fmt.Errorf("%s was answered %q, not %q", p.name, it.Text(), want)
	}
	return err
}

// chatPerson asks on the chat page of the dashboard, in one session.
type chatPerson struct {
	l       *loadFixture
	name    string
	client  *api.Client
	session string
}

func (p *chatPerson) visit(ctx context.Context, n int) error {
	started, err := p.client.Start(ctx, api.TaskRequest{
		Prompt:    load.Prompt(p.name, n, loopsPerVisit),
		SessionID: p.session, Typed: true,
	})
	if err != nil {
		return err
	}
	p.session = started.SessionID
	rec, err := p.client.Follow(ctx, started.TaskID, func(ev sessions.Event) {
		if ev.Record.State == sessions.TaskQueued && ev.Record.Position > 0 {
			p.l.toldPosition.Add(1)
		}
	})
	if want := load.Answer(p.name, n); err == nil && rec.Answer != want {
		err = fmt.Errorf("%s was answered %q (%s %s), not %q", p.name, rec.Answer, rec.State, rec.Reason, want)
	}
	if err == nil {
		p.l.figures.Queued(rec.Started.Sub(rec.Asked))
	}
	return err
}

// stepPerson is a program, or a model of another, that does each step itself in a tab of its own.
type stepPerson struct {
	figures    *load.Figures
	name, site string
	door       stepDoor
}

// stepDoor is how single steps are asked for.
type stepDoor interface {
	navigate(ctx context.Context, url string) error
	snapshot(ctx context.Context) (string, error)
	act(ctx context.Context, request map[string]any) error
}

func (p *stepPerson) visit(ctx context.Context, n int) error {
	for i := range loopsPerVisit {
		if err := p.loop(ctx, fmt.Sprintf("%d of %s/%d", i, p.name, n)); err != nil {
			return err
		}
		p.figures.Loop(p.name)
	}
	return nil
}

func (p *stepPerson) loop(ctx context.Context, name string) error {
	var shown, saved string
	read := func(into *string) func() error {
		return func() (err error) {
			*into, err = p.door.snapshot(ctx)
			return err
		}
	}
	var field, button string
	kinds := [...]string{"navigate", "snapshot", "type", "click", "snapshot"}
	for i, step := range []func() error{
		func() error { return p.door.navigate(ctx, p.site+"/form?"+url.QueryEscape(name)) },
		read(&shown),
		func() (err error) {
			if field, button, err = load.Refs([]byte(shown)); err != nil {
				return err
			}
			return p.door.act(ctx, map[string]any{"kind": "type", "ref": field, "text": name})
		},
		func() error { return p.door.act(ctx, map[string]any{"kind": "click", "ref": button}) },
		read(&saved),
	} {
		begin := time.Now()
		if err := step(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		p.figures.Step(kinds[i], time.Since(begin))
	}
	if !strings.Contains(saved, "saved "+name) {
		return fmt.Errorf("%s: the page does not say that it saved %q: %s", p.name, name, saved)
	}
	return nil
}

// apiDoor is the control API.
type apiDoor struct {
	call *browsertool.APIClient
	tab  string
}

func (d *apiDoor) do(ctx context.Context, method, path string, query url.Values, body map[string]any, into any) error {
	if body != nil && d.tab != "" {
		body["targetId"] = d.tab
	}
	status, data, err := d.call.Call(ctx, method, path, query, body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s %s: %d %s", method, path, status, data)
	}
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func (d *apiDoor) navigate(ctx context.Context, url string) error {
	if d.tab != "" {
		return d.do(ctx, "POST", "/navigate", nil, map[string]any{"url": url}, nil)
	}
	var opened struct{ TargetID string }
	err := d.do(ctx, "POST", "/tabs/open", nil, map[string]any{"url": url}, &opened)
	d.tab = opened.TargetID
	return err
}

func (d *apiDoor) snapshot(ctx context.Context) (string, error) {
	var shown struct{ Snapshot string }
	err := d.do(ctx, "GET", "/snapshot", url.Values{"targetId": {d.tab}}, nil, &shown)
	return shown.Snapshot, err
}

func (d *apiDoor) act(ctx context.Context, request map[string]any) error {
	return d.do(ctx, "POST", "/act", nil, request, nil)
}

// mcpDoor is the tool that MCP clients have.
type mcpDoor struct {
	session *mcp.ClientSession
	tab     string
}

func (d *mcpDoor) call(ctx context.Context, args map[string]any) (string, error) {
	if d.tab != "" {
		args["targetId"] = d.tab
	}
	res, err := d.session.CallTool(ctx, &mcp.CallToolParams{Name: browsertool.ToolName, Arguments: args})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	if res.IsError {
		return "", fmt.Errorf("%v: %s", args, b.String())
	}
	return b.String(), nil
}

var mcpTab = regexp.MustCompile(`"targetId": ?"([^"]+)"`)

func (d *mcpDoor) navigate(ctx context.Context, url string) error {
	if d.tab != "" {
		_, err := d.call(ctx, map[string]any{"action": "navigate", "url": url})
		return err
	}
	said, err := d.call(ctx, map[string]any{"action": "open", "url": url})
	if err != nil {
		return err
	}
	tab := mcpTab.FindStringSubmatch(said)
	if tab == nil {
		return fmt.Errorf("open names no tab: %s", said)
	}
	d.tab = tab[1]
	return nil
}

func (d *mcpDoor) snapshot(ctx context.Context) (string, error) {
	return d.call(ctx, map[string]any{"action": "snapshot"})
}

func (d *mcpDoor) act(ctx context.Context, request map[string]any) error {
	_, err := d.call(ctx, map[string]any{"action": "act", "request": request})
	return err
}
