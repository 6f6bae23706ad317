package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"clank/bot/discord"
	"clank/internal/i18n"
	"clank/llm"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// Pages shows what the pages of sessions look like, and keeps what tasks did there.
type Pages interface {
	// Screenshot returns a picture of the current page of a session. Its error is for people.
	Screenshot(ctx context.Context, session string) (llm.Image, error)

	// Script returns the steps of a task as a script called name, and saves it if the person of o is an operator.
	Script(ctx context.Context, o sessions.Origin, task, name string) (text string, saved bool, err error)

	// Clip returns the end of the film of the session that the person of o used last in the channel, as WebM of at most
	// maxBytes. Its error is for the person.
	Clip(ctx context.Context, o sessions.Origin, maxBytes int64) ([]byte, error)
}

// What the buttons below an answer and in the list of sessions do. The custom id of one is "clank:", the action, ":"
// and the id of a session or a task, so that it works after a restart; whether the person may is judged when it is
// pressed.
const (
	actionPrefix   = "clank:"
	actionContinue = "continue" // a session
	actionPicture  = "picture"
	actionClose    = "close"
	actionRetry    = "retry" // a task
	actionScript   = "script"
	actionFiles    = "files"
	actionList     = "sessions" // a menu of sessions
	actionLink     = "link"     // a menu of links
	actionAsk      = "about"    // a message
	actionChoose   = "choose"   // a menu of answers, for a person
	actionAnswer   = "answer"   // an answer in that person's own words
)

const (
	fieldTask    = "task"
	fieldName    = "name"
	maxName      = 40
	formTimeout  = 2500 * time.Millisecond // Discord waits three seconds for a form
	closeTimeout = time.Minute
)

// answerRows returns the buttons below the answer of a task.
func (b *Bot) answerRows(loc i18n.Locale, rec sessions.TaskRecord) []discordgo.MessageComponent {
	var first, second []discordgo.MessageComponent
	open := rec.SessionID != "" && !rec.Closed
	if open {
		first = append(first, actionButton(loc.T("Continue"), actionContinue, rec.SessionID))
	}
	if rec.ID != "" {
		first = append(first, actionButton(loc.T("Retry"), actionRetry, rec.ID))
	}
	if open {
		first = append(first, b.sessionButtons(loc, rec.SessionID)[1:]...)
	}
	if rec.ID != "" && len(rec.Downloads) > 0 {
		second = append(second, actionButton(loc.T("Files"), actionFiles, rec.ID))
	}
	if rec.ID != "" && rec.State == sessions.TaskDone && rec.Steps > 0 && b.Pages != nil {
		second = append(second, actionButton(loc.T("Save as script"), actionScript, rec.ID))
	}
	var rows []discordgo.MessageComponent
	for _, row := range [][]discordgo.MessageComponent{first, second} {
		if len(row) > 0 {
			rows = append(rows, discordgo.ActionsRow{Components: row})
		}
	}
	return rows
}

// sessionButtons returns what can be done with a session, going on with it first.
func (b *Bot) sessionButtons(loc i18n.Locale, id string) []discordgo.MessageComponent {
	list := []discordgo.MessageComponent{actionButton(loc.T("Continue"), actionContinue, id)}
	if b.Links != nil {
		list = append(list, discordgo.Button{Label: loc.T("Live"), Style: discordgo.SecondaryButton, CustomID: livePrefix +
			id})
	}
	if b.Pages != nil {
		list = append(list, actionButton(loc.T("Screenshot"), actionPicture, id))
	}
	return append(list, actionButton(loc.T("Close"), actionClose, id))
}

func actionButton(label, action, id string) discordgo.Button {
	style := discordgo.SecondaryButton
	if action == actionContinue {
		style = discordgo.PrimaryButton
	}
	return discordgo.Button{Label: label, Style: style, CustomID: actionPrefix + action + ":" + id}
}

// onAction handles a button of a session, and reports false if it is none.
func (b *Bot) onAction(base context.Context, i *discordgo.Interaction, data discordgo.MessageComponentInteractionData,
	who person,
) bool {
	action, id, _ := strings.Cut(strings.TrimPrefix(data.CustomID, actionPrefix), ":")
	b.logger().Info("button", "action", action, "id", id, "by", who.id)
	busy := func(ctx context.Context) { b.replyPrivately(ctx, i, who.locale.T(busyText)) }
	switch action {
	case actionContinue:
		b.runShort(base, func(ctx context.Context) { b.openContinueForm(ctx, i, id, who) })
	case actionScript:
		b.runShort(base, func(ctx context.Context) { b.openScriptForm(ctx, i, id, who) })
	case actionRetry:
		b.startWork(base, func(ctx context.Context) { b.retry(ctx, i, id, who) }, busy)
	case actionFiles:
		b.startWork(base, func(ctx context.Context) { b.giveFiles(ctx, i, id, who) }, busy)
	case actionPicture:
		b.startWork(base, func(ctx context.Context) { b.showPicture(ctx, i, id, who) }, busy)
	case actionClose:
		b.startWork(base, func(ctx context.Context) { b.closeSession(ctx, i, id, who) }, busy)
	case actionLink:
		link := pickedLink(i.Message, strings.Join(data.Values, ""))
		b.startWork(base, func(ctx context.Context) { b.browseLink(ctx, i, link, who) }, busy)
	case actionChoose:
		choice := strings.Join(data.Values, "")
		b.startWork(base, func(ctx context.Context) { b.answerModel(ctx, i, id, choice, false, who) }, busy)
	case actionAnswer:
		b.runShort(base, func(ctx context.Context) { b.openAnswerForm(ctx, i, id, who) })
	case actionList:
		b.runShort(base, func(ctx context.Context) { b.sessionsCommand(ctx, i, who, strings.Join(data.Values, "")) })
	default:
		return false
	}
	return true
}

// onForm handles a form that a person has submitted.
func (b *Bot) onForm(base context.Context, i *discordgo.Interaction, data discordgo.ModalSubmitInteractionData,
	who person,
) {
	if key, setup := strings.CutPrefix(data.CustomID, setupPrefix); setup {
		b.onSetup(base, i, key, []string{formField(data, key)}, true, who)
		return
	}
	if answer, asked := strings.CutPrefix(data.CustomID, questionPrefix); asked {
		b.onAnswer(base, i, answer, formField(data, fieldTask), who)
		return
	}
	action, id, _ := strings.Cut(strings.TrimPrefix(data.CustomID, actionPrefix), ":")
	var do func(context.Context)
	switch action {
	case actionContinue:
		do = func(ctx context.Context) { b.continueSession(ctx, i, id, formField(data, fieldTask), who) }
	case actionScript:
		do = func(ctx context.Context) { b.makeScript(ctx, i, id, formField(data, fieldName), who) }
	case actionAsk:
		do = func(ctx context.Context) { b.askAbout(ctx, i, id, formField(data, fieldTask), who) }
	case actionAnswer:
		do = func(ctx context.Context) { b.answerModel(ctx, i, id, formField(data, fieldTask), true, who) }
	default:
		b.logger().Info("form of somebody else", "custom_id", data.CustomID)
		return
	}
	b.startWork(base, do, func(ctx context.Context) { b.replyPrivately(ctx, i, who.locale.T(busyText)) })
}

// formField returns the value of a field.
func formField(data discordgo.ModalSubmitInteractionData, id string) string {
	for _, row := range data.Components {
		r, _ := row.(*discordgo.ActionsRow)
		if r == nil {
			continue
		}
		for _, c := range r.Components {
			if field, ok := c.(*discordgo.TextInput); ok && field.CustomID == id {
				return strings.TrimSpace(field.Value)
			}
		}
	}
	return ""
}

// replyPrivately answers an interaction for its person alone.
func (b *Bot) replyPrivately(ctx context.Context, i *discordgo.Interaction, text string) {
	m := discord.OutgoingMessage{Content: text, Private: true}
	b.respond(ctx, i, discordgo.InteractionResponseChannelMessageWithSource, m)
}

// sessionFor returns a session for a person who may use it: its owner and, if moderators may, people who manage
// messages in its channel. Otherwise it tells that person why not.
func (b *Bot) sessionFor(ctx context.Context, i *discordgo.Interaction, id string, who person,
	moderators bool,
) (_ sessions.Session, refusal string) {
	from := b.asModerator(b.completeOrigin(ctx, originOf(i, who)), who, who.bits)
	if why := b.Host.Disabled(ctx, from); why != "" {
		return sessions.Session{}, sentence(who.locale, why, 500)
	}
	s, err := b.Tasks.Session(ctx, id)
	switch {
	case errors.Is(err, sessions.ErrNotFound):
		return s, who.locale.T("That session is not kept any more. /clank browse starts a new one.")
	case err != nil:
		b.logger().Error("session not looked up", "session", id, "error", err)
		return s, who.locale.T("That cannot be looked up just now. Please try again.")
	case !s.MayUse(from) && (!moderators || s.Origin.Private || !from.Moderates(s.Origin.Guild, s.Origin.Channel)):
		return s, who.locale.T("Only <@%s> can do that with this session. /clank browse starts one of your own.",
			s.Origin.User)
	case s.State == sessions.SessionClosed:
		return s, who.locale.T("That session is closed. /clank browse starts a new one.")
	}
	return s, ""
}

// taskFor returns a task for the person who requested it.
func (b *Bot) taskFor(ctx context.Context, i *discordgo.Interaction, id string,
	who person,
) (_ sessions.TaskRecord, refusal string) {
	from := b.completeOrigin(ctx, originOf(i, who))
	if why := b.Host.Disabled(ctx, from); why != "" {
		return sessions.TaskRecord{}, sentence(who.locale, why, 500)
	}
	t, err := b.Tasks.Task(ctx, id)
	switch {
	case errors.Is(err, sessions.ErrNotFound):
		return t, who.locale.T("That task is not kept any more. Please ask again with /clank browse.")
	case err != nil:
		b.logger().Error("task not looked up", "task", id, "error", err)
		return t, who.locale.T("That cannot be looked up just now. Please try again.")
	case t.Origin.Kind != sessions.FromDiscord || t.Origin.User != who.id:
		return t, who.locale.T("Only <@%s> can do that with this task. You can ask for your own with /clank browse.",
			t.Origin.User)
	}
	return t, ""
}

func (b *Bot) openContinueForm(ctx context.Context, i *discordgo.Interaction, id string, who person) {
	ctx, cancel := context.WithTimeout(ctx, formTimeout)
	defer cancel()
	if _, refusal := b.sessionFor(ctx, i, id, who, false); refusal != "" {
		b.replyPrivately(ctx, i, refusal)
		return
	}
	b.openForm(ctx, i, discord.Form{
		ID: actionPrefix + actionContinue + ":" + id, Title: who.locale.T("Go on with session %s", id),
		Fields: []discord.FormField{{ID: fieldTask, Label: who.locale.T("What to do next"), Long: true, Max: maxTaskLength}},
	})
}

func (b *Bot) openScriptForm(ctx context.Context, i *discordgo.Interaction, id string, who person) {
	ctx, cancel := context.WithTimeout(ctx, formTimeout)
	defer cancel()
	if _, refusal := b.taskFor(ctx, i, id, who); refusal != "" {
		b.replyPrivately(ctx, i, refusal)
		return
	}
	b.openForm(ctx, i, discord.Form{
		ID: actionPrefix + actionScript + ":" + id, Title: who.locale.T("Save as script"),
		Fields: []discord.FormField{{
			ID: fieldName, Label: who.locale.T("Name of the script"), Hint: "find-lamps", Max: maxName,
		}},
	})
}

func (b *Bot) openForm(ctx context.Context, i *discordgo.Interaction, f discord.Form) {
	if err := b.rest.OpenForm(ctx, i, f); err != nil {
		b.postUnanswered(ctx, i, discord.OutgoingMessage{Private: true}, fmt.Errorf("open form %s: %w", f.ID, err))
	}
}

// continueSession does a task in a session.
func (b *Bot) continueSession(ctx context.Context, i *discordgo.Interaction, id, task string, who person) {
	s, refusal := b.sessionFor(ctx, i, id, who, false)
	if refusal != "" {
		b.replyPrivately(ctx, i, refusal)
		return
	}
	b.browseCommand(ctx, i, browseOptions{task: task, session: id, private: s.Origin.Private}, who)
}

// retry does a task once more, in its session if that is still open. It counts as not typed: people are asked before
// something is bought or sent a second time.
func (b *Bot) retry(ctx context.Context, i *discordgo.Interaction, id string, who person) {
	t, refusal := b.taskFor(ctx, i, id, who)
	switch {
	case refusal != "":
	case strings.Contains(t.Prompt, sessions.SecretMask):
		refusal = who.locale.T(passwordNotKeptText)
	}
	if refusal != "" {
		b.replyPrivately(ctx, i, refusal)
		return
	}
	o := browseOptions{
		task: t.Prompt, session: t.SessionID, runtime: t.Runtime, model: t.Model, steps: t.MaxSteps, budget: t.MaxUSD,
		private: t.Origin.Private, untyped: true,
	}
	if s, err := b.Tasks.Session(ctx, t.SessionID); err != nil || s.State == sessions.SessionClosed {
		o.session, o.profile = "", t.Profile
	}
	b.browseCommand(ctx, i, o, who)
}

// showPicture shows a person how the page of a session looks.
func (b *Bot) showPicture(ctx context.Context, i *discordgo.Interaction, id string, who person) {
	b.respond(ctx, i, discordgo.InteractionResponseDeferredChannelMessageWithSource,
		discord.OutgoingMessage{Private: true})
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	_, refusal := b.sessionFor(ctx, i, id, who, true)
	if refusal == "" && b.Pages == nil {
		refusal = who.locale.T(unknownCommandText)
	}
	if refusal != "" {
		b.editAnswer(ctx, i, true, refusal)
		return
	}
	picture, err := b.Pages.Screenshot(ctx, id)
	if err != nil {
		b.editAnswer(ctx, i, true, sentence(who.locale, err.Error(), 500))
		return
	}
	b.editAnswer(ctx, i, true, "", pictureFile("page", picture))
}

// closeSession ends a session.
func (b *Bot) closeSession(ctx context.Context, i *discordgo.Interaction, id string, who person) {
	b.respond(ctx, i, discordgo.InteractionResponseDeferredChannelMessageWithSource,
		discord.OutgoingMessage{Private: true})
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	s, text := b.sessionFor(ctx, i, id, who, true)
	if text == "" {
		by := who.actor(0)
		by.Moderator = s.Origin.User != who.id // sessionFor has checked that
		text = who.locale.T("Closed.")
		if err := b.Tasks.CloseSession(ctx, id, by); err != nil {
			text = sentence(who.locale, err.Error(), 500)
		}
	}
	b.editAnswer(ctx, i, true, text)
}

// makeScript gives a person the steps of a task as a script.
func (b *Bot) makeScript(ctx context.Context, i *discordgo.Interaction, id, name string, who person) {
	b.respond(ctx, i, discordgo.InteractionResponseDeferredChannelMessageWithSource,
		discord.OutgoingMessage{Private: true})
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	_, refusal := b.taskFor(ctx, i, id, who)
	if refusal == "" && b.Pages == nil {
		refusal = who.locale.T(unknownCommandText)
	}
	if refusal != "" {
		b.editAnswer(ctx, i, true, refusal)
		return
	}
	name = strings.ToLower(strings.Join(strings.Fields(name), "-"))
	script, saved, err := b.Pages.Script(ctx, b.completeOrigin(ctx, originOf(i, who)), id, name)
	if err != nil {
		b.editAnswer(ctx, i, true, sentence(who.locale, err.Error(), 1000))
		return
	}
	text := who.locale.T("This is the script. An operator of this clank can save it, so that it is run without a model.")
	if saved {
		text = who.locale.T("Saved. With the model plain:steps, the task `run %s` does it again.", name)
	}
	file := discord.File{Name: name + ".txt", MediaType: "text/plain; charset=utf-8", Data: []byte(script)}
	b.editAnswer(ctx, i, true, text, file)
}

const (
	maxListed    = 5  // sessions that are shown with their buttons
	maxInMenu    = 25 // sessions in the menu, if there are more
	maxPageTitle = 60
)

// sessionsCommand answers /clank sessions, and a pick from its menu.
func (b *Bot) sessionsCommand(ctx context.Context, i *discordgo.Interaction, who person, picked string) {
	ctx, cancel := context.WithTimeout(ctx, formTimeout)
	defer cancel()
	from := b.completeOrigin(ctx, originOf(i, who))
	// The list is for that person alone, so it shows what they do in private, too.
	shown := from
	shown.Private = true
	list, err := b.openSessions(ctx, shown, maxInMenu)
	switch {
	case err != nil:
		b.logger().Error("sessions not listed", "error", err)
		b.replyPrivately(ctx, i, who.locale.T("Your sessions cannot be listed just now. Please try again."))
		return
	case len(list) == 0 && picked == "":
		b.replyPrivately(ctx, i, who.locale.T("You have no session here. /clank browse starts one."))
		return
	}
	kind := discordgo.InteractionResponseChannelMessageWithSource
	if picked != "" {
		kind = discordgo.InteractionResponseUpdateMessage
	}
	b.respond(ctx, i, kind, discord.OutgoingMessage{
		Rows: b.sessionLayout(who.locale, list, picked), Layout: true,
		Private: true,
	})
}

// sessionLayout returns the list of sessions. Texts and buttons alternate in it, which only Discord's newer components
// support.
func (b *Bot) sessionLayout(loc i18n.Locale, list []sessions.Session, picked string) []discordgo.MessageComponent {
	var parts []discordgo.MessageComponent
	if len(list) > maxListed || picked != "" {
		menu := discordgo.SelectMenu{CustomID: actionPrefix + actionList + ":", Placeholder: loc.T("Choose a session")}
		for _, s := range list {
			c := newChoice(s.ID, s.ID, s.Title, s.URL)
			menu.Options = append(menu.Options, discordgo.SelectMenuOption{
				Label: c.Name, Value: c.Value,
				Default: c.Value == picked,
			})
		}
		list = slices.DeleteFunc(list, func(s sessions.Session) bool { return s.ID != picked })
		text := loc.T("These are your sessions here.")
		if len(list) == 0 && picked != "" {
			text = loc.T("That session is closed. /clank browse starts a new one.")
		}
		parts = append(parts, discordgo.TextDisplay{Content: text})
		if len(menu.Options) > 0 {
			parts = append(parts, discordgo.ActionsRow{Components: []discordgo.MessageComponent{menu}})
		}
	}
	for _, s := range list {
		page := discord.EscapeLine(s.Title, maxPageTitle)
		if page == "" {
			page = discord.EscapeLine(s.URL, maxPageTitle)
		}
		line := strings.TrimSpace("**"+s.ID+"** "+page) + "\n-# " + loc.Text(string(s.State)) + ", " +
			timestamp(s.LastUsed, 'R')
		parts = append(parts, discordgo.TextDisplay{Content: line},
			discordgo.ActionsRow{Components: b.sessionButtons(loc, s.ID)})
	}
	return parts
}
