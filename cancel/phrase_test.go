package cancel_test

import (
	"strings"
	"testing"

	"clank/cancel"
)

func TestStopPhrasesAreUnderstoodInSixLanguages(t *testing.T) {
	for lang, phrases := range map[string][]string{
		"en": {
			"stop", "Stop!", "STOP.", "ok stop", "oh, never mind", "nvm", "nevermind", "forget it", "forgetit please", "just cancel that",
			"please stop now", "hey clank, stop", "clank stop", "stop it", "abort", "quit", "actually, cancel", "yeah stop please!",
			"<@123456> stop", "stop <@!99>", "  stop  ", "stop!!!", "sｔｏｐ", "okay, stop searching",
			"stop" + strings.Repeat("!", 116), // the longest
		},
		"es": {"para", "¡Para!", "detente", "cancela eso", "olvídalo", "por favor, cancela", "basta ya", "déjalo"},
		"de": {"Stopp!", "halt", "hör auf", "hör auf damit", "abbrechen", "vergiss es", "bitte abbrechen", "brich das ab", "Schluss jetzt"},
		"fr": {"arrête", "Arrête ça !", "stop s'il te plaît", "annule", "laisse tomber", "ça suffit", "s’il vous plaît, arrêtez"},
		"pt": {"pare", "para", "cancela isso", "esquece", "deixa pra lá", "chega", "por favor, pare agora", "não, cancela"},
		"ja": {"ストップ", "止めて", "やめて!", "やめてください", "キャンセルして", "もういいよ", "中止してください。", "ちょっと止めて", "ｽﾄｯﾌﾟ"},
	} {
		for _, p := range phrases {
			if !cancel.IsStop(p) {
				t.Errorf("%s: IsStop(%q) = false, want true", lang, p)
			}
		}
	}
}

func TestOrdinaryTalkIsNotAStopPhrase(t *testing.T) {
	for _, p := range []string{
		"", " ", "!", "please", "ok", "clank", "it", "now please", "don't stop", "do not stop", "non-stop", "stop at the first result",
		"stop by the shop and buy milk", "where is the bus stop", "the stop sign", "cancel my subscription at example.com", "unstoppable",
		"stop stop go", "forget it was me", "how do I quit vim", "never mind the weather, look up trains", "stop?no", "stopp la",
		"para ver los precios", "busca para mí", "halte mich auf dem Laufenden", "ist mir egal was", "arrête-toi au premier résultat",
		"pare no primeiro resultado", "止まれの標識を探して", "キャンセル料を調べて", "やめてよかったこと", "停止線とは",
		"<@123>", "<@123", "stop" + strings.Repeat("!", 117),
	} {
		if cancel.IsStop(p) {
			t.Errorf("IsStop(%q) = true, want false", p)
		}
	}
}

func FuzzIsStop(f *testing.F) {
	for _, s := range []string{"stop", "ok, stop it!", "やめて", "<@1> stop", "s'il te plaît, arrête"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := cancel.IsStop(s)
		if again := cancel.IsStop("  " + s + "\n"); len(s) < 100 && got != again {
			t.Errorf("IsStop(%q) = %v, with space around it %v", s, got, again)
		}
	})
}
