package bot_test

import (
	"encoding/json"
	"testing"

	"clank/bot"
	"clank/internal/settings"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/watches"
	"clank/sessions"
	"clank/sessions/approval"
)

func TestAllReadTheLanguageOfTheServerAndEachTheirOwn(t *testing.T) {
	s := newStage(t)
	s.SetLocale(s.guild, "de")
	s.ada.Locale, s.bob.Locale = "fr", "ja"
	s.open()
	it, k := s.lamps()
	k.step("open", nil)
	shown := s.answer(it, "Schritt 1: open")
	s.answer(s.command(s.ada, "sessions", nil), "Vous n’avez pas de session ici.")
	pressed, err := s.PressButton(*shown.Original, s.bob, shown.Original.Components[0].Components[0].CustomID)
	check.Must(t, err)
	s.answer(pressed, "それを停止できるのは")
	s.say(s.room, s.bob, "stopp")
	s.message(s.room, "Das kann nur")
	k.end <- ending{rec: sessions.TaskRecord{State: sessions.TaskFailed, Reason: sessions.ErrDisabled.Error()}}
	s.answer(it, "Das hat nicht geklappt. Das Surfen ist in den Einstellungen abgeschaltet.")
	s.SetLocale(s.guild, "pt-BR")
	it, k = s.lamps()
	k.queued(2)
	s.answer(it, "Aguardando um navegador livre, posição 2 na fila.")
	s.answer(s.command(s.ada, "stop", nil), "Parado.")
}

func TestDetailsAreInTheLanguageOfWhoReadsThem(t *testing.T) {
	s := newStage(t)
	s.SetLocale(s.guild, "de")
	s.ada.Locale, s.mod.Locale = "de", "ja"
	s.bot.Budgets = budgets{people: []bot.PersonBudget{{User: s.bob.ID, Spent: "5.00 USD, 12 calls"}}}
	s.open()
	s.answer(s.command(s.mod, "budget", nil), "12回の呼び出し")
	s.answer(s.command(s.ada, "budget", nil), "Dieser Server heute: 9 von 10 USD")

	_, m := s.ask(approval.ClassBuy, func(q *approval.Question) {
		q.Text = "Log in at https://shop.example with the login \"Do buy\""
	})
	check.Contains(t, m.Content, `**Bei https\://shop.example mit der Anmeldung "Do buy" einloggen?**`)
	w := watches.Watch{ID: "w1", URL: "https://shop.test/a", What: "the number near \"price\" drops below 20 EUR"}
	w.Origin = sessions.Origin{Kind: sessions.FromDiscord, Guild: s.guild.ID, Channel: s.room.ID, User: s.ada.ID}
	n := watches.Notice{Kind: watches.NoticeMet, Text: "It is 19 € now; it was 21 €.", Diff: []string{"+ … and 3 more"}}
	check.Must(t, s.bot.NotifyWatch(t.Context(), w, n))
	got := s.message(s.room, `die Zahl bei "price" fällt unter 20 EUR`)
	check.Contains(t, got.Content, "➕ … und 3 weitere", "19 €")
}

func TestTheSettingForAServerComesBeforeWhatItPrefers(t *testing.T) {
	s := newStage(t)
	s.SetLocale(s.guild, "de")
	s.ada.Locale = "fr"
	m, _ := s.serverSettings()
	languages := map[string]json.RawMessage{"interaction.language": json.RawMessage(`"ja"`)}
	_, _, err := m.Update(t.Context(), languages, m.State().Version)
	check.Must(t, err)
	s.open()
	it, k := s.lamps()
	k.step("open", nil)
	s.answer(it, "ステップ1: open")
	k.done("")
	languages = map[string]json.RawMessage{settings.ServerLanguage: json.RawMessage(`"es"`)}
	check.Must(t, m.UpdateGuild(t.Context(), s.guild.ID, languages, "0"))
	it, k = s.lamps()
	k.step("open", nil)
	s.answer(it, "Paso 1: open")
	k.done("")
	s.answer(it, "Listo; no hay nada que contar.")
	it = s.browse(s.ada, discordtest.Args{"task": "x", "private": true})
	k = s.next()
	k.step("open", nil)
	s.answer(it, "Étape 1 : open")
	k.done("")
}

func TestEveryCommandHasItsNamesAndDescriptionsInEveryLanguage(t *testing.T) {
	s := newStage(t)
	s.bot.Calls, s.bot.Links, s.bot.Watches, s.bot.Runtimes = phone{}, phone{}, &watched{}, []string{"one", "two"}
	s.bot.Pages = pages{}
	s.budgets(nil)
	s.open() // Discord has checked them
	complete := func(what string, by map[string]string) {
		for _, locale := range []string{"de", "fr", "es-ES", "es-419", "pt-BR", "ja"} {
			if by[locale] == "" {
				t.Errorf("%s is not there in %s", what, locale)
			}
		}
	}
	var walk func(path string, options []discordtest.CommandOption)
	walk = func(path string, options []discordtest.CommandOption) {
		for _, o := range options {
			at := path + " " + o.Name
			complete("the name of"+at, o.Names)
			complete("the description of"+at, o.Descriptions)
			for _, c := range o.Choices {
				if o.Name != "runtime" && o.Name != "model" { // names of programs
					complete("the choice "+c.Name+" of"+at, c.Names)
				}
			}
			walk(at, o.Options)
		}
	}
	for _, c := range s.Commands(s.account) {
		if c.Name != "clank" {
			complete("the name of "+c.Name, c.Names)
		}
		if c.Description != "" {
			complete("the description of "+c.Name, c.Descriptions)
		}
		walk("", c.Options)
	}
}
