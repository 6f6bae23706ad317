package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"clank/browsermgr/chrome"
	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/settings"
	"clank/llm"
	"clank/llm/plain"
)

// SetupSubject is an installation whose setup is checked.
type SetupSubject struct {
	Settings  settings.Settings
	Bindings  []settings.RuntimeBinding
	Getenv    func(string) string
	Present   func(secret string) bool
	NoSandbox bool
	DataDir   string // of browsers
	Serves    bool   // this process serves the viewer's page, so its public address can be tested
}

// Checks returns, for each component that clank uses, whether it is ready and how to set it up. The only external
// service it contacts is Discord, to identify the token.
func (in SetupSubject) Checks(ctx context.Context) []api.SetupCheck {
	list := append(in.browserChecks(ctx), in.modelCheck(), in.discordCheck(ctx), in.signInCheck(), in.voiceCheck(ctx))
	return append(list, in.publicCheck(ctx))
}

// publicTestTime bounds the test of the public address.
const publicTestTime = 5 * time.Second

// publicCheck checks whether people elsewhere can reach shared browsers.
func (in SetupSubject) publicCheck(ctx context.Context) api.SetupCheck {
	at := in.Settings.Share.PublicURL
	c := api.SetupCheck{Name: "Public address", State: api.SetupReady, Detail: at}
	if at == "" {
		c.State, c.Detail = api.SetupOptional, "Links to shared browsers work on this machine only."
		c.Fix = "For people elsewhere, set a public viewer address in the settings under Sharing."
	}
	if at == "" || !in.Serves {
		return c
	}
	ctx, done := context.WithTimeoutCause(ctx, publicTestTime, errors.New("it does not answer"))
	defer done()
	if err := askViewerPage(ctx, at); err != nil {
		c.State, c.Detail = api.SetupOptional, sentence(fmt.Sprintf("%s does not lead to shared browsers: %v", at, err))
		c.Fix = "Check that its reverse proxy runs, or correct it in the settings under Sharing."
	}
	return c
}

// browserChecks looks for the browser and, on Linux, for causes that prevent it from starting.
func (in SetupSubject) browserChecks(ctx context.Context) []api.SetupCheck {
	program, err := chrome.Find(ctx, in.Settings.BrowserPath)
	if err != nil {
		return []api.SetupCheck{{
			Name: "Chromium", State: api.SetupMissing, Detail: sentence(err.Error()),
			Fix: "Install Chromium or Chrome (Debian: apt install chromium), or name its path in the settings under Browser.",
		}}
	}
	list := []api.SetupCheck{{Name: "Chromium", State: api.SetupReady, Detail: program.Path}}
	if runtime.GOOS != "linux" {
		return list
	}
	for _, c := range chrome.ThisMachine().Checks(chrome.MachineSubject{
		Executable: program.Path, Snap: chrome.IsSnap(program.Path), DataDir: in.DataDir, TempDir: os.TempDir(),
		NoSandbox: in.NoSandbox, Headless: !in.Settings.Headed,
	}) {
		if c.Status == chrome.CheckFail || c.Status == chrome.CheckWarn {
			state := api.SetupMissing
			if c.Status == chrome.CheckWarn {
				state = api.SetupOptional
			}
			list = append(list, api.SetupCheck{
				Name: c.Label, State: state, Detail: sentence(c.Summary),
				Fix: sentence(c.FixHint),
			})
		}
	}
	return list
}

// modelCheck checks the model for tasks that do not name one.
func (in SetupSubject) modelCheck() api.SetupCheck {
	c := api.SetupCheck{
		Name: "Model", State: api.SetupMissing, Detail: "No model is chosen.",
		Fix: "Choose one on the Setup page, or a preset in the settings under Runtime.", Asks: api.AsksModel,
	}
	for _, b := range in.Bindings {
		switch {
		case !b.Chosen:
		case b.Problem != "":
			c.Detail = sentence(b.Problem)
		case b.Model == plain.ModelName:
			c.State, c.Detail = api.SetupOptional, "clank follows written steps, such as: open the demo shop, click "+
				"\"Chairs\", read."
			c.Fix = "For a model that thinks, enter its key on the Setup page, or with \"clank setup key\"."
		default:
			return api.SetupCheck{
				Name: "Model", State: api.SetupReady, Detail: b.Model, Test: api.TestsModel,
				Asks: api.AsksModel,
			}
		}
	}
	return c
}

func (in SetupSubject) discordCheck(ctx context.Context) api.SetupCheck {
	c := api.SetupCheck{Name: "Discord", State: api.SetupOptional, Detail: "No bot token is set."}
	if !in.Present("DISCORD_TOKEN") {
		c.Fix = "Create an application at https://discord.com/developers/applications, and enter its bot token on the " +
			"Setup page, or with \"clank setup key DISCORD_TOKEN\". \"clank setup discord\" lists the steps."
		c.Asks = api.AsksDiscord
		return c
	}
	app, err := DiscordApplication(ctx, in.Getenv)
	switch {
	case err != nil:
		problem, fix := explainDiscordToken(err)
		c.State, c.Detail = api.SetupMissing, sentence(problem)
		c.Fix, c.Asks = fix, api.AsksDiscord
		return c
	case app.ID == "": // the token is set for the running server, not here
		c.State, c.Detail = api.SetupReady, "The bot token is set."
		return c
	case !app.HearsEverything():
		c.Detail = app.Name + " does not hear messages that do not mention it, such as \"stop\"."
		c.Fix = "Switch on Message Content Intent in the developer portal under Bot, then restart clank."
	default:
		c.State, c.Detail = api.SetupReady, "The token is for "+app.Name+"."
	}
	c.Link, c.LinkText = DiscordInvite(app.ID, in.Settings), "Invite it to a server"
	return c
}

// DiscordInvite returns the link that adds the bot to a server with the permissions that the settings require.
func DiscordInvite(application string, s settings.Settings) string {
	const format = "https://discord.com/oauth2/authorize?client_id=%s&scope=bot+applications.commands&permissions=%d"
	return fmt.Sprintf(format, application, DiscordPermissions(s))
}

// signInCheck checks sign-in to the dashboard with Discord, and what it needs in the developer portal.
func (in SetupSubject) signInCheck() api.SetupCheck {
	c := api.SetupCheck{
		Name: "Sign-in with Discord", State: api.SetupOptional, Detail: "Nobody can sign in to the dashboard with Discord.",
		Fix: "Choose who may sign in, in the settings under Dashboard.",
	}
	var redirects []string
	for _, host := range in.Settings.Dashboard.HostList() {
		redirects = append(redirects, "https://"+host+"/login")
	}
	redirects = append(redirects, "http://"+dashboard.DefaultAddr+"/login")
	switch in.Settings.Dashboard.SignIn {
	case settings.SignInOff:
		return c
	case settings.SignInOperators, settings.SignInModerators, settings.SignInMembers:
		c.Detail = "For " + in.Settings.Dashboard.SignIn + "."
	case settings.SignInViewers:
		c.Detail = "For all members of clank's servers."
	}
	c.State, c.Fix = api.SetupReady, ""
	c.Detail += " Redirects in the developer portal, under OAuth2: " + strings.Join(redirects, ", ") + "."
	if !in.Present(settings.SecretDiscordClient) {
		c.State = api.SetupOptional
		c.Fix = "Copy the client secret there, and start clank with it as " + settings.SecretDiscordClient + "."
	}
	return c
}

func (in SetupSubject) voiceCheck(ctx context.Context) api.SetupCheck {
	c := api.SetupCheck{Name: "Calls", State: api.SetupReady, Detail: "clank hears and speaks."}
	if in.Settings.Voice.Enabled {
		c.Test = api.TestsVoice
	}
	var missing []string
	for _, a := range CallCapabilities(ctx, in.Settings, in.Present, false) {
		if (a.Name == CapabilityTranscription || a.Name == CapabilityStopWords || a.Name == CapabilitySpeech) && !a.Ready {
			missing = append(missing, sentence(a.Detail))
		}
	}
	if len(missing) > 0 {
		c.State, c.Detail, c.Fix = api.SetupOptional, "Something for calls is missing.", strings.Join(missing, " ")
	}
	return c
}

// sentence turns a clause into a sentence.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	first, _, _ := strings.Cut(text, " ")
	// unless it starts with a name
	if text != "" && !strings.ContainsFunc(first, func(r rune) bool { return r < 'a' || r > 'z' }) {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if text == "" || strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// setup provides the dashboard with the setup of a server.
type setup struct{ *Server }

// SetupChecks returns the state of the setup, including the connection to Discord.
func (a setup) SetupChecks(ctx context.Context) []api.SetupCheck {
	ctx, done := context.WithTimeoutCause(ctx, 10*time.Second, errors.New("no answer within 10 s"))
	defer done()
	s := a.Settings.Current()
	list := SetupSubject{
		Settings: s, Bindings: settings.RuntimeBindings(s, a.models.Ability), Getenv: a.getenv,
		Present: func(name string) bool { return SecretPresent(a.getenv, name) }, NoSandbox: a.noSandbox(),
		DataDir: a.StateDir,
		Serves:  true,
	}.Checks(ctx)
	for i := range list {
		if d := discordFacts(a).State(); list[i].Name == "Discord" && len(d.Shards) > 0 {
			servers := "servers"
			if len(d.Servers) == 1 {
				servers = "server"
			}
			list[i].Detail = fmt.Sprintf("%s %s It is on %d %s.", list[i].Detail, d.Status, len(d.Servers), servers)
		}
	}
	return list
}

// SaveKey stores the key of a service in the vault and starts using it.
func (a setup) SaveKey(ctx context.Context, name, value string) error {
	ctx, done := context.WithTimeoutCause(ctx, modelTestTime, fmt.Errorf("no answer within %s", modelTestTime))
	defer done()
	if err := SaveServiceKey(ctx, a.Vault, a.environ, name, value, a.models); err != nil {
		return err
	}
	kept, err := a.Vault.ServiceKeys(ctx)
	if err != nil {
		return err
	}
	a.keys.set(kept)
	if name == "DISCORD_TOKEN" {
		select {
		case a.Web.newToken <- struct{}{}:
		default: // a signal is already pending
		}
	}
	return nil
}

// Models returns the names of the models that a provider offers.
func (a setup) Models(ctx context.Context, provider string) ([]string, error) {
	ctx, done := context.WithTimeoutCause(ctx, modelTestTime, fmt.Errorf("no answer within %s", modelTestTime))
	defer done()
	return a.models.Models(ctx, provider)
}

// modelTestTime bounds the test of a model.
const modelTestTime = 30 * time.Second

// TestModel asks the task model for one word and reports that it answered.
func (a setup) TestModel(ctx context.Context) (string, error) {
	for _, b := range settings.RuntimeBindings(a.Settings.Current(), a.models.Ability) {
		if !b.Chosen {
			continue
		}
		if b.Problem != "" {
			return "", errors.New(b.Problem)
		}
		ctx, done := context.WithTimeoutCause(ctx, modelTestTime,
			fmt.Errorf("%s did not answer within %s", b.Model, modelTestTime))
		defer done()
		model, err := a.models.Find(ctx, b.Model)
		if err != nil {
			return "", err
		}
		ask := llm.Request{MaxTokens: adviceTokens, Messages: []llm.Message{llm.UserText("Answer with the word: ready")}}
		begun := time.Now()
		if _, err = model.Generate(llm.WithAccount(ctx, llm.Account{Purpose: "setup"}), ask, nil); err != nil {
			return "", err
		}
		return fmt.Sprintf("%s answered within %.1f s.", b.Model, time.Since(begun).Seconds()), nil
	}
	return "", errors.New("no model is chosen")
}
