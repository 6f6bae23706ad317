// Package i18n translates what people read in Discord and hear in calls into six languages.
//
// Code is written in English: loc.T("Step %d: %s", n, label). The English text is the key in locales/*.json, which
// hold the other languages, and the fallback if a translation is missing. A text with plurals has one form for each
// CLDR category; locales/en.json holds only those. Numbers are formatted for the language, so pass an identifier or a
// timestamp as a string, never with %d.
//
// It is not for the dashboard, command lines, logs, or anything that a model reads.
//
// Terms are translated consistently:
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
