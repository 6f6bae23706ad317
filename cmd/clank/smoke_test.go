package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	"clank/internal/test/llmtest"
)

// TestTheFirstTry does with a program that was built what a person does first: it tries it without a server, on the
// chat page and in Discord.
func TestTheFirstTry(t *testing.T) {
	if *builtProgram == "" {
		t.Skip("needs a program that was built: make smoke")
	}
	const found = "Aurora Desk Lamp"
	home, environ := newTestHome(t)
	if stdout, stderr, code := runProgram(t, home, environ, "browse", firstTry); code != exitDone ||
		!strings.Contains(stdout, found) {
		t.Fatalf("without a server: exit code %d\n%s%s", code, stdout, stderr)
	}
	checkNothingLeft(t, home)
	checkNoTempFiles(t, environ)

	server := startServer(t, home, environ)
	link := awaitOutput(t, server.stdout, "clank is ready: ")
	for _, want := range []string{
		"set OPENAI_API_KEY", "or set DISCORD_TOKEN", "calls    on the page Call",
		firstTry,
	} {
		awaitOutput(t, server.stdout, want)
	}
	tab := browsertest.Tab(t, browsertest.Connect(t, browsertest.Launch(t), page.Options{}), page.TabOptions{})
	browsertest.Navigate(t, tab, strings.TrimPrefix(link, "clank is ready: "))
	for task, outcome := range map[string]string{
		firstTry: found, `open the demo shop, wait for "a text that never comes"`: "Stopped by you",
	} {
		awaitAfterNavigation(t, tab, `document.getElementById("prompt")`)
		say := func(text string) {
			check.Must(t, check.Err(tab.Act(testDeadline(t), page.Action{
				Kind: actiontable.KindType, Selector: "#prompt",
				Text: text, Submit: true,
			})))
		}
		say(task)
		if outcome != found {
			awaitAfterNavigation(t, tab,
				`[...document.querySelectorAll(".step .sign.spin")].at(-1)?.closest(".step").innerText.includes("never comes")`)
			say("stop")
		}
		awaitAfterNavigation(t, tab, `[...document.querySelectorAll(".turn")].at(-1)?.innerText.includes("`+outcome+`")`)
	}
	server.interrupt(t)
	check.Equal(t, "exit code", server.exitCode(t), exitDone)
	checkNothingLeft(t, home)

	d, err := discordtest.Start(discordtest.Config{Voice: &voicetest.Config{DAVE: 1}})
	check.Must(t, err)
	t.Cleanup(func() { d.Close() })
	bot, ada := d.CreateBot("clank", "secret"), d.CreateUser("ada")
	guild := d.CreateGuild("home", ada)
	d.AddMember(guild, bot.User)
	r := &smokeRoom{Server: d, bot: bot, room: d.CreateChannel(guild, "general"), ada: ada}
	r.other, r.lounge = d.CreateChannel(guild, "random"), d.CreateVoiceChannel(guild, "lounge")
	if *pictureDir != "" {
		r.views = browsertest.ViewsIn(t, browsertest.Launch(t), func(text string) { t.Log(text) })
	}
	trust := filepath.Join(t.TempDir(), "voice.pem")
	check.Must(t, os.WriteFile(trust, d.Voice.Certificate(), 0o600))
	environ = append(environ, "DISCORD_TOKEN="+bot.Token, "CLANK_DISCORD_API="+d.URL, "SSL_CERT_FILE="+trust)
	r.environ = environ
	startServer(t, home, environ)
	check.Must(t, d.WaitConnected(testDeadline(t), bot))
	it, err := d.SlashCommand(r.room, ada, "clank browse", discordtest.Args{"task": firstTry + ", screenshot"})
	if err == nil {
		it, err = d.WaitInteraction(testDeadline(t), it, func(i discordtest.Interaction) bool {
			return strings.Contains(i.Text(), found)
		})
	}
	check.Must(t, err)
	onePicture(t, *it.Original)
	r.draw(t, "answer", r.Draw(*it.Original))
	smokeInDiscord(t, r)
}

// TestFromNothingThroughTheSetUpPage gives a program that was built and knows nothing a model and Discord on its set-up
// page, and has a task done in both.
func TestFromNothingThroughTheSetUpPage(t *testing.T) {
	if *builtProgram == "" {
		t.Skip("needs a program that was built: make smoke")
	}
	const answer = "The ferry leaves at nine."
	model := llmtest.NewServer(t)
	model.SetFallback(llmtest.Say(answer))
	d, err := discordtest.Start(discordtest.Config{})
	check.Must(t, err)
	t.Cleanup(func() { d.Close() })
	bot, ada := d.CreateBot("clank", "secret"), d.CreateUser("ada")
	guild := d.CreateGuild("home", ada)
	d.AddMember(guild, bot.User)
	room := d.CreateChannel(guild, "general")
	home, environ := newTestHome(t)
	server := startServer(t, home, append(environ, "OPENAI_BASE_URL="+model.BaseURL(), "CLANK_DISCORD_API="+d.URL,
		"CLANK_VAULT_KEYRING=off"))
	link := strings.TrimPrefix(awaitOutput(t, server.stdout, "clank is ready: "), "clank is ready: ")
	tab := browsertest.Tab(t, browsertest.Connect(t, browsertest.Launch(t), page.Options{}), page.TabOptions{})
	browsertest.Navigate(t, tab, link)
	awaitAfterNavigation(t, tab, `document.getElementById("prompt")`)
	browsertest.Navigate(t, tab, strings.Split(link, "/login")[0]+"/setup")
	// press fills in a form and presses its button, once the page can be worked, until something is there.
	press := func(button, fill, until string) {
		t.Helper()
		awaitAfterNavigation(t, tab, `Boolean(`+until+`) || ((button) => { if (button && !button.disabled) { `+fill+
			`; button.click(); } })(document.querySelector("`+button+`"))`)
	}
	press("#list-models", `document.querySelector("#model-form [name=key]").value = "sk-0123456789"`,
		`document.querySelector("#models option[value='gpt-6-sol']")`)
	press("#model-form [type=submit]", "",
		`document.getElementById("model-result")?.textContent.startsWith("openai:gpt-6-sol answered")`)
	press("#discord-form button", `document.querySelector("#discord-form input").value = "`+bot.Token+`"`,
		`!document.getElementById("discord-form") && document.querySelector(".checks").innerText.includes("The token is for")`)
	check.Must(t, d.WaitConnected(testDeadline(t), bot))
	press("#first button", `document.getElementById("first-task").value = "when does the ferry leave?"`,
		`document.querySelector(".turn")?.innerText.includes("`+answer+`")`)
	it, err := d.SlashCommand(room, ada, "clank browse", discordtest.Args{"task": "when does the ferry leave?"})
	if err == nil {
		_, err = d.WaitInteraction(testDeadline(t), it, func(i discordtest.Interaction) bool {
			return strings.Contains(i.Text(), answer)
		})
	}
	check.Must(t, err)
}
