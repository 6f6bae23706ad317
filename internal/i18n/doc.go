// Package i18n says in six languages what people read in Discord and hear in calls.
//
// Code is written in English: loc.T("Step %d: %s", n, label). The English text is the key under which locales/*.json
// hold the other languages, and what is said where a translation is missing. A text with several plural forms has one
// for each that CLDR asks for; locales/en.json holds only those. Numbers are written as the language writes them: an
// identifier or a timestamp is thus given as text, never with %d.
//
// It is not for pages of the dashboard, command lines, logs, or anything that a model reads.
//
// The words for things are the same throughout:
//
//	en              de                fr              es               pt-BR           ja
//	task            Aufgabe           tâche           tarea            tarefa          タスク
//	session         Sitzung           session         sesión           sessão          セッション
//	step            Schritt           étape           paso             passo           ステップ
//	page            Seite             page            página           página          ページ
//	watch           Beobachtung       surveillance    vigilancia       monitoramento   監視
//	call            Anruf             appel           llamada          chamada         通話
//	share           teilen            partager        compartir        compartilhar    共有
//	link            Link              lien            enlace           link            リンク
//	profile         Profil            profil          perfil           perfil          プロファイル
//	operator        Betreiber         exploitant      operador         operador        管理者
//	form of address du                vous            tú               você            です・ます
package i18n
