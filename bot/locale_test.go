package bot_test

import (
	"testing"

	"clank/internal/i18n"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/sessions"
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

func TestTheSettingForAServerComesBeforeWhatItPrefers(t *testing.T) {
	s := newStage(t)
	s.SetLocale(s.guild, "de")
	s.ada.Locale = "fr"
	s.bot.Language = func(guild string) i18n.Locale {
		if guild != s.guild.ID {
			t.Errorf("asked for the language of %q", guild)
		}
		return "es"
	}
	s.open()
	it, k := s.lamps()
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
