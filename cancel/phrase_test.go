package cancel_test

import (
	"strings"
	"testing"

	"clank/cancel"
	"clank/internal/test/check"
)

func TestStopPhrasesAreUnderstoodInSixLanguages(t *testing.T) {
	for lang, phrases := range map[string][]string{
		"en": {
			"stop", "Stop!", "STOP.", "ok stop", "oh, never mind", "nvm", "nevermind", "forget it", "forgetit please",
			"just cancel that",
			"please stop now", "hey clank, stop", "clank stop", "stop it", "abort", "quit", "actually, cancel",
			"yeah stop please!",
			"stop stop stop", "stop, please stop", "wait, stop", "stop everything right now", "that's enough", "stop already",
			"<@123456> stop", "stop <@!99>", "  stop  ", "stop!!!", "sｔｏｐ", "okay, stop searching",
			"stop" + strings.Repeat("!", 116), // the longest
		},
		"es": {
			"para", "¡Para!", "detente", "cancela eso", "olvídalo", "por favor, cancela", "basta ya", "déjalo",
			"¡Para ya!", "para, por favor", "clank, para", "<@123> para", "¡para, para!", "páralo todo", "deténgase", "ya basta",
			"deja eso",
			"deja de buscar", "no sigas", "no, para", "párate", "cancélalo todo", "alto ahí",
		},
		"de": {
			"Stopp!", "halt", "hör auf", "hör auf damit", "abbrechen", "vergiss es", "bitte abbrechen", "brich das ab",
			"Schluss jetzt",
			"halt mal", "halt mal an", "stopp mal", "stop mal bitte", "hör mal auf", "hör bitte auf", "hör auf zu suchen",
			"warte, stopp",
			"anhalten", "das reicht", "genug jetzt", "clank, halt", "brich bitte ab", "Stopp, stopp!", "alles stoppen",
			"lass es gut sein",
		},
		"fr": {
			"arrête", "Arrête ça !", "stop s'il te plaît", "annule", "laisse tomber", "ça suffit", "s’il vous plaît, arrêtez",
			"arrête-toi", "arrêtez-vous", "arrête tout de suite", "arrête de chercher", "stop, arrête !", "on arrête",
			"clank, arrête", "stoppez tout",
			"laisse tomber ça", "ça suffit maintenant", "annule tout", "bon, on arrête là",
		},
		"pt": {
			"pare", "para", "cancela isso", "esquece", "deixa pra lá", "chega", "por favor, pare agora", "não, cancela",
			"para com isso", "pare com isso", "para tudo", "para de procurar", "pare de buscar, por favor", "já chega",
			"deixa quieto", "clank, para",
			"<@123> pare", "interrompa", "para, para!", "pode parar agora", "parar",
		},
		"ja": {
			"ストップ", "止めて", "やめて!", "やめてください", "キャンセルして", "もういいよ", "中止してください。", "ちょっと止めて", "ｽﾄｯﾌﾟ",
			"ストップ！ストップ！", "ストップして", "もうやめて", "やっぱりやめて", "それやめて", "検索を止めて", "検索をやめてください", "今すぐ停止して",
			"止めといて", "クランク、止めて", "クランク止めて", "clank止めて", "@clank やめて", "やめてもらえますか", "止めてほしい", "もういいです",
			"すぐに中止してください", "全部キャンセル", "ストップお願いします",
		},
	} {
		for _, p := range phrases {
			if !cancel.IsStop(p) {
				t.Errorf("%s: IsStop(%q) = false, want true", lang, p)
			}
		}
	}
}

func TestStopPhrasesMayCarryOtherNames(t *testing.T) {
	names := []string{"Robo", "Frau  Müller", "stop", "ロボ", ","}
	for text, want := range map[string]bool{
		"robo, stop": true, "Robo stop it please": true, "hör auf, Frau Müller!": true, "ロボ止めて": true,
		"hey robo, never mind": true, "stop": true, "stop stop": true, "clank, stop": true,
		"robo": false, "frau stop": false, "robo, go on": false, "": false,
	} {
		check.Equal(t, "IsStop("+text+")", cancel.IsStopTo(names, text), want)
	}
	if cancel.IsStop("robo, stop") {
		t.Error("a name of nobody is taken for one")
	}
}

func TestOrdinaryTalkIsNotAStopPhrase(t *testing.T) {
	for _, p := range []string{
		"", " ", "!", "please", "ok", "clank", "it", "now please", "don't stop", "do not stop", "non-stop",
		"stop at the first result",
		"stop by the shop and buy milk", "where is the bus stop", "the stop sign", "cancel my subscription at example.com",
		"unstoppable",
		"stop stop go", "forget it was me", "how do I quit vim", "never mind the weather, look up trains", "stop?no",
		"stopp la",
		"para ver los precios", "busca para mí", "halte mich auf dem Laufenden", "ist mir egal was",
		"arrête-toi au premier résultat",
		"pare no primeiro resultado", "止まれの標識を探して", "キャンセル料を調べて", "やめてよかったこと", "停止線とは",
		// false friends
		"arrêt", "arrêt de bus", "un arrêt", "l'arrêt de tram le plus proche", "arrête de bus", "il s'arrête ici", "stop pub",
		"halte-garderie",
		"laisse un message", "annule mon abonnement", "arrête la musique", "ça suffit pour deux personnes", "annuler un vol",
		"para Maria", "para María", "para mañana", "para mí", "para a Maria", "para mim", "para quem é", "para que sirve",
		"es para ti",
		"voos para Lisboa", "parar de fumar", "parada de ônibus", "parada de autobús", "chega amanhã", "chega de saudade",
		"deixa comigo",
		"no para", "não pare", "não para", "no pares", "para cancelar", "para parar", "cancela mi suscripción",
		"alto contraste", "el más alto", "basta con dos", "no", "já", "ya", "pare em Lisboa",
		"das ist halt so", "halt mal die Tür auf", "halt mal kurz fest", "halt dich fest", "Haltestelle", "Halt in Kassel",
		"stopp die Zeit",
		"Stoppuhr", "Schluss mit lustig", "genug Geld", "warte mal", "hör zu", "hör auf den Lehrer", "lass es schneien",
		"brich das Ei auf",
		"stop the music", "stop motion", "stop and go", "that's enough money", "cancel culture", "full stop rules",
		"quit smoking",
		"バス停", "一時停止の標識", "ストップウォッチ", "止めてある車", "雨を止めて", "やめてほしいことリスト", "中止になった試合", "止めて良い駅", "もう",
		"ストップ安", "キャンセル待ち", "お願い", "検索して", "クランク", "クランクシャフト",
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
