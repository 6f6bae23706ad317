package server

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"clank/bot"
	"clank/internal/assistant"
	"clank/internal/budget"
	"clank/internal/i18n"
	"clank/internal/settings"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/speech"
)

// NewBudgetEnforcer returns an enforcer of the configured budgets.
func NewBudgetEnforcer(ledger budget.Ledger, now func() settings.Settings, logger *slog.Logger) *budget.Enforcer {
	return &budget.Enforcer{
		Ledger: ledger, Rules: func() budget.Rules { return BudgetRules(now()) },
		IsFree: func(model string) bool { return strings.HasPrefix(model, "plain:") }, Logger: logger,
	}
}

// OpenBudget returns an enforcer of the configured budgets. Reservations that an earlier run left open are charged as
// estimated.
func OpenBudget(ctx context.Context, ledger budget.Ledger, now func() settings.Settings,
	logger *slog.Logger,
) (*budget.Enforcer, error) {
	n, err := ledger.Abandon(ctx)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		logger.Warn("something was under way when clank ended; it counts as estimated", "entries", n)
	}
	return NewBudgetEnforcer(ledger, now, logger), nil
}

// openBudget opens the budgets of the home, whose limits hold for all its processes together.
func (a *Server) openBudget(ctx context.Context) (err error) {
	ledger := a.telemetry.Metrics.Ledger(a.homeDB)
	if a.Ephemeral { // what is reserved there is under way in the process that owns the home
		a.budget = NewBudgetEnforcer(ledger, a.Settings.Current, a.logger)
	} else if a.budget, err = OpenBudget(ctx, ledger, a.Settings.Current, a.logger); err != nil {
		return err
	}
	a.budget.GuildLimit = a.guildLimit
	if !a.Ephemeral {
		a.inBackground(ctx, a.budget.Run)
	}
	return nil
}

// BudgetRules converts the settings to budget rules. Limits that cannot be parsed were refused when they were set.
func BudgetRules(all settings.Settings) budget.Rules {
	s := all.Budget
	rules := budget.Rules{
		Zone: s.Location(), KeepDays: all.RetentionInDays, Limits: make(budget.Limits),
		Prices: s.PriceList(),
	}
	for level, text := range map[budget.Level]string{
		budget.LevelTask: s.Task, budget.LevelSession: s.Session, budget.LevelUser: s.User, budget.LevelGuild: s.Guild,
		budget.LevelDay: s.Day,
	} {
		rules.Limits[level] = budgetLimit(text)
	}
	return rules
}

// guildLimit returns the daily limit that a server has set for itself.
func (a *Server) guildLimit(guild string) budget.Amount {
	return budgetLimit(a.Settings.For(guild).Server.Budget)
}

// budgetLimit parses a limit. One that cannot be parsed, which was refused when it was set, limits nothing.
func budgetLimit(text string) budget.Amount {
	l, err := settings.ParseLimit(text)
	if err != nil {
		return budget.Amount{}
	}
	return budget.Amount{
		Calls: l.Calls, Steps: l.Steps, Tokens: l.Tokens, Money: budget.Dollars(l.USD), Time: l.Time,
		Talk: l.Talk,
	}
}

// ChargedReplier is an assistant whose model calls are charged to the person it answers.
type ChargedReplier struct{ bot.Replier }

// Reply implements [bot.Replier].
func (b ChargedReplier) Reply(ctx context.Context, t assistant.Turn,
	watch func(assistant.Progress),
) (assistant.Answer, error) {
	return b.Replier.Reply(llm.WithAccount(ctx, agent.PersonAccount(t.Origin, "talk")), t, watch)
}

// DiscordBudgets provides the data of /clank budget. It implements [bot.BudgetReader].
type DiscordBudgets struct{ *budget.Enforcer }

// Budgets implements [bot.BudgetReader].
func (k DiscordBudgets) Budgets(ctx context.Context, o sessions.Origin, people bool) (v bot.Budgets, err error) {
	lines, err := k.Status(ctx, llm.Account{Guild: o.Guild, User: agent.PersonID(o)})
	if err != nil {
		return v, err
	}
	for _, l := range lines {
		switch l.Key.Level {
		case budget.LevelUser:
			v.Mine = l.String()
		case budget.LevelGuild:
			v.Server = l.String()
		case budget.LevelDay:
			v.Today = l.String()
		case budget.LevelTask, budget.LevelSession:
		}
	}
	if !people {
		return v, nil
	}
	users, err := k.UserStatus(ctx, o.Guild)
	for _, l := range users {
		id, _ := strings.CutPrefix(l.Key.ID, string(sessions.FromDiscord)+":")
		v.People = append(v.People, bot.PersonBudget{User: id, Spent: l.Spent.String()})
	}
	return v, err
}

// noticeTimeout bounds sending a notice to a chat.
const noticeTimeout = 30 * time.Second

// budgetedTranscriber returns tr limited by the budget.
func (x *CallService) budgetedTranscriber(tr voice.Transcriber, s settings.Transcription) voice.Transcriber {
	if x.Budget == nil {
		return tr
	}
	return &budget.LimitedTranscriber{
		Transcriber: tr, Enforcer: x.Budget,
		Model: budget.AudioModel{Name: s.Model, URL: s.URL},
	}
}

// budgetedSynthesizer returns s limited by the budget. When that is exhausted, the local voice takes over, which is
// announced once.
func (x *CallService) budgetedSynthesizer(
	s voice.Synthesizer, v settings.Speech, chat conversation.Chat, loc i18n.Locale,
) voice.Synthesizer {
	if _, free := s.(*speech.ESpeak); free || x.Budget == nil {
		return s
	}
	paid := &budget.LimitedSpeaker{Speaker: s, Enforcer: x.Budget, Model: budget.AudioModel{Name: v.Model, URL: v.URL}}
	if own, err := speech.NewESpeak(speech.ESpeakOptions{Voice: v.LocalVoice}); err == nil {
		paid.Fallback = own
	}
	var once sync.Once
	paid.OnSpent = func(err error) {
		once.Do(func() {
			x.Logger.Info("budget of speech spent; espeak-ng speaks", "error", err)
			x.background.Go(func() {
				ctx, done := context.WithTimeout(x.callsContext, noticeTimeout)
				defer done()
				text := loc.T("I may not spend more on my voice, so I speak with that of the machine I run on.") + " " +
					loc.Sentence(err.Error())
				if err := chat.Write(ctx, conversation.Message{Text: text}); err != nil {
					x.Logger.Warn("spent budget not told", "error", err)
				}
			})
		})
	}
	return paid
}
