package intent

import (
	_ "embed" // the words of more languages
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// classWords are the names of controls and fields by meaning: regular expressions valid in both JavaScript and Go, for
// folded text (see foldText). words.txt adds to them. The alternatives in an entry are in this order: English, German,
// French, Spanish, Portuguese, Italian, Dutch, Polish, Swedish, Turkish, Russian, Japanese, Chinese and Korean. An
// entry of the first list matches whole words; one of the second list matches anywhere, for languages without spaces
// between words.
var classWords = map[string][2][]string{
	// Spends money, whatever the page is about.
	"buy": {{
		`buy`, `purchase`, `pay`, `order now`,
		`(?:place|submit|complete|confirm|finish|review and place)(?: your| my| the| an?)? ` +
			`(?:order|purchase|payment|booking|bid)`, `(?:confirm|continue|proceed) (?:and|&) (?:pay|order)`,
		`make (?:a |my )?payment`, `donate`, `book now`, `bid now`,
		`send money`, `start (?:my |your )?(?:paid )?(?:subscription|membership)`, `rent now`, `top up`,
		`(?:jetzt )?kaufen`, `kauf abschlie(?:ss|ß)en`, `(?:kostenpflichtig|zahlungspflichtig)(?: \S+)?`, `bestellen`,
		`bestellung (?:aufgeben|absenden|abschicken|abschlie(?:ss|ß)en)`,
		`(?:be)?zahlen`, `spenden`, `jetzt buchen`,
		`acheter`, `commander`, `payer`, `passer (?:la |ma )?commande`,
		`(?:valider|confirmer|finaliser) (?:la |ma |votre )?(?:commande|paiement|achat)`, `faire un don`,
		`comprar`, `pagar`, `(?:realizar|hacer|finalizar|tramitar|confirmar|fazer|concluir) (?:el |la |o |a |mi |tu |su )?(?:pedido|compra|pago|pagamento)`, `donar`,
		`encomendar`, `doar`,
		`acquista(?:re)?`, `compra(?: ora)?`, `paga(?:re)?`,
		`(?:effettua|conferma|invia|completa) (?:l ?)?(?:ordine|acquisto|pagamento)`, `dona`,
		`kopen`, `koop nu`, `betalen`, `bestelling (?:plaatsen|afronden)`, `plaats bestelling`, `doneren`,
		`kup(?:uje)?(?: teraz)?`, `zap[lł]ac`, `p[lł]ace`, `zamow(?:ienie)?`, `zamawiam`, `z[lł]oz zamowienie`,
		`kop`, `kop nu`, `betala`, `bestall`, `slutfor kop(?:et)?`,
		`sat[iı]n al`, `siparisi? (?:ver|tamamla|onayla)`, `odemeyi (?:yap|tamamla)`, `ode`,
		`купить`, `оплатить`, `заказать`, `оформить заказ`, `подтвердить заказ`, `пожертвовать`,
	}, {
		`購入`, `注文(?:する|を確定|確定)`, `支払う`, `お支払い`, `今すぐ買う`, `決済する`, `寄付する`,
		`购买`, `購買`, `下单`, `下單`, `支付`, `付款`, `提交订单`, `提交訂單`, `捐款`, `立即买`, `구매하기`, `바로구매`, `구매`, `결제`, `주문하기`,
	}},
	// Orders only where money is about to be spent.
	"confirm": {{
		`checkout`, `check out`, `confirm`, `continue`, `finish`, `complete`, `submit`, `agree(?: and continue)?`, `ok`,
		`done`, `yes`, `order`, `book`, `reserve`,
		`upgrade`, `transfer`, `bid`, `accept`, `weiter`, `bestatigen`, `abschlie(?:ss|ß)en`, `absenden`, `zur kasse`, `ja`,
		`valider`, `confirmer`, `continuer`, `terminer`,
		`confirmar`, `continuar`, `finalizar`, `aceptar`, `concluir`, `conferma`, `continua`, `procedi`, `bevestigen`,
		`doorgaan`, `afrekenen`, `potwierdz`, `dalej`,
		`bekrafta`, `fortsatt`, `onayla`, `devam`, `tamamla`, `подтвердить`, `продолжить`, `готово`,
	}, {`確定`, `確認する`, `次へ`, `完了`, `确认`, `確認`, `继续`, `完成`, `结算`, `結帳`, `확인`, `완료`, `계속`}},
	// Looks like buying but is not.
	"basket": {{
		`(?:add|move|put)(?: \S+)? (?:to|in|into)(?: my| your| the| shopping)* (?:cart|basket|bag|trolley|wish ?list|favou?rites)`, `how to (?:buy|pay|order)`,
		`buy(?:ing|er)? guides?`, `pay attention`, `buy (?:it )?later`,
		`(?:view|edit|update|go to|open|empty)(?: my| your| the)? (?:cart|basket|bag)`,
		`in den (?:warenkorb|einkaufswagen)(?: legen)?`, `zum warenkorb(?: hinzufugen)?`, `ajouter (?:au panier|a la liste)`,
		`(?:anadir|agregar) (?:al carrito|a la cesta)`,
		`adicionar ao (?:carrinho|cesto)`, `aggiungi al carrello`,
		`(?:toevoegen aan|in) (?:de )?winkel(?:wagen|mandje)(?: plaatsen)?`, `dodaj do koszyka`, `do koszyka`,
		`lagg i (?:varukorgen|varukorg|kundvagn)`, `sepete ekle`, `(?:добавить )?в корзину`,
	}, {`カート(?:に|へ)(?:入れる|追加)?`, `かごに(?:入れる|追加)`, `加入购物车`, `加入購物車`, `장바구니`}},
	"delete": {{
		`delete`, `erase`, `destroy`, `wipe`, `deactivate`, `unsubscribe`, `unpublish`,
		`(?:close|remove|terminate|disable)(?: my| your| the| this)? (?:account|profile|workspace|repository|project|page|team)`,
		`(?:cancel|end|stop|terminate)(?: my| your| the| this)? (?:subscription|membership|order|booking|reservation|account|plan|contract|appointment|payment)`, `empty (?:the )?(?:trash|bin)`,
		`endgultig`, `loschen`, `kundigen`, `abbestellen`, `stornieren`, `konto (?:schlie(?:ss|ß)en|auflosen)`,
		`supprimer`, `effacer`, `resilier`, `(?:se )?desabonner`, `me desabonner`, `fermer (?:mon |le )?compte`,
		`annuler (?:ma |la )?(?:commande|reservation)`,
		`eliminar`, `borrar`, `darse de baja`,
		`cancelar (?:la |mi |a |o |minha )?(?:suscripcion|assinatura|pedido|reserva|cuenta|conta)`,
		`(?:cerrar|encerrar) (?:mi |a |minha )?(?:cuenta|conta)`,
		`excluir`, `apagar`, `elimina(?:re)?`, `cancella(?:re)?`, `disiscriviti`, `chiudi (?:l ?)?account`, `disdici`,
		`verwijder(?:en)?`, `opzeggen`, `uitschrijven`, `wissen`, `usun`, `skasuj`, `zamknij konto`, `anuluj subskrypcje`,
		`wypisz sie`,
		`radera`, `avsluta konto`, `avprenumerera`, `sil`, `hesab[iı] (?:kapat|sil)`, `удалить`, `стереть`, `отписаться`,
		`закрыть аккаунт`,
	}, {`削除`, `退会`, `解約`, `注文をキャンセル`, `删除`, `刪除`, `注销账`, `取消订阅`, `삭제`, `탈퇴`, `해지`}},
	// Deletes, unless it is about a basket or a filter.
	"remove": {{
		`remove`, `discard`, `entfernen`, `retirer`, `enlever`, `quitar`, `remover`, `rimuovi`, `ta bort`,
		`kald[iı]r`, `убрать`,
	}, {`除去`, `移除`, `제거`}},
	"send": {{
		`send`, `post`, `publish`, `reply`, `tweet`, `share`, `comment`, `broadcast`,
		`submit (?:your |my |a |the )?(?:review|comment|post|message|answer|reply|question|report|request|feedback)`,
		`post (?:your |a )?\S+`, `go live`, `invite`, `forward`,
		`senden`, `abschicken`, `veroffentlichen`, `posten`, `antworten`, `teilen`, `kommentieren`, `kommentar absenden`,
		`envoyer`, `publier`, `repondre`, `partager`, `poster`,
		`commenter`, `enviar`, `publicar`, `responder`, `compartir`, `compartilhar`, `partilhar`, `comentar`, `postar`,
		`invia(?:re)?`, `pubblica`, `rispondi`, `condividi`,
		`versturen`, `verzenden`, `verstuur`, `publiceren`, `beantwoorden`, `delen`, `wyslij`, `opublikuj`, `odpowiedz`,
		`udostepnij`, `skicka`, `publicera`, `svara`, `dela`,
		`gonder`, `yay[iı]nla`, `yan[iı]tla`, `paylas`, `отправить`, `опубликовать`, `ответить`, `поделиться`,
	}, {
		`送信`, `投稿`, `返信する`, `公開する`, `共有する`, `シェアする`, `发送`, `發送`, `发布`, `發佈`, `发表`, `回复`, `回覆`, `分享`, `보내기`, `전송`, `게시`,
		`답글`, `공유`,
	}},
	// Submits what was filled in, where no form shows it.
	"submit": {{
		`submit`, `continue`, `next`, `register`, `sign ?up`, `create (?:an |my |your )?account`, `join(?: now| us)?`,
		`apply(?: now)?`, `save`, `confirm`, `subscribe`, `request(?: \S+){0,3}`, `book`,
		`reserve`, `finish`, `get started`, `get (?:a |my )?quote`, `enrol?l`, `go`, `notify me`, `absenden`, `weiter`,
		`registrieren`, `anmelden`, `abonnieren`, `speichern`, `beantragen`, `buchen`,
		`s ?inscrire`, `inscription`, `suivant`, `continuer`, `enregistrer`, `s ?abonner`, `valider`, `registrarse`,
		`registrar`, `siguiente`, `continuar`, `guardar`, `suscribirse`, `inscribirse`,
		`cadastrar(?:-se)?`, `inscrever(?:-se)?`, `seguinte`, `proximo`, `salvar`, `assinar`, `registrati`, `avanti`,
		`continua`, `salva`, `iscriviti`, `registreren`, `volgende`, `aanmelden`,
		`inschrijven`, `opslaan`, `zarejestruj(?: sie)?`, `dalej`, `zapisz(?: sie)?`, `registrera`, `nasta`, `spara`,
		`prenumerera`, `kaydol`, `uye ol`, `ileri`, `kaydet`, `зарегистрироваться`,
		`далее`, `сохранить`, `подписаться`,
	}, {`登録`, `次へ`, `申し込`, `保存`, `注册`, `註冊`, `提交`, `下一步`, `订阅`, `회원가입`, `가입하기`, `제출`, `다음`, `신청`}},
	"register": {{
		`register`, `sign ?up`, `create (?:an |my |your )?account`, `join`, `registrieren`, `konto erstellen`, `s ?inscrire`,
		`creer (?:un |mon )?compte`, `registrarse`, `crear cuenta`, `cadastrar(?:-se)?`,
		`criar conta`, `registrati`, `crea account`, `registreren`, `account aanmaken`, `zarejestruj(?: sie)?`, `registrera`,
		`skapa konto`, `kaydol`, `uye ol`, `зарегистрироваться`,
	}, {`新規登録`, `会員登録`, `アカウント作成`, `注册`, `註冊`, `회원가입`}},
	// Places where money is spent, as named in URLs.
	"till": {{
		`checkout`, `payment`, `payments`, `pay`, `billing`, `purchase`, `place order`, `order confirm`, `kasse`, `zahlung`,
		`bezahlen`, `paiement`, `commande`, `pago`, `pagamento`, `afrekenen`, `donate`,
	}, nil},
	"cart": {{
		`cart`, `basket`, `bag`, `warenkorb`, `panier`, `carrito`, `cesta`, `carrinho`, `carrello`, `winkelwagen`,
		`koszyk`, `filters?`, `wish ?list`,
	}, {`購物車`, `购物车`, `カート`}},
	"search": {{
		`search`, `q`, `query`, `suche`, `suchen`, `suchbegriff`, `recherche`, `rechercher`, `buscar`, `busqueda`,
		`busca`, `pesquisar?`, `cerca`, `zoeken`, `szukaj`, `sok`, `ara`, `поиск`, `keywords?`,
	}, {`検索`, `搜索`, `搜尋`, `검색`}},
	// Personal data, by the names and labels of fields.
	"e-mail address": {{
		`e ?mail(?: ?(?:address|adresse))?`, `courriel`, `correo(?: electronico)?`, `mail address`,
		`почта`, `eposta`, `e posta`,
	}, {`メール`, `邮箱`, `電子郵件`, `电子邮件`, `이메일`}},
	"telephone number": {{
		`(?:tele)?phone(?: ?number)?`, `tel`, `mobile(?: ?number)?`, `cell(?:phone)?`, `handy(?:nummer)?`,
		`telefon(?:o|e|nummer)?`, `rufnummer`, `portable`, `celular`, `movil`, `telefone`,
		`cellulare`, `telefoonnummer`, `телефон`,
	}, {`電話`, `电话`, `手机`, `전화`, `휴대폰`}},
	"name": {
		{
			`(?:first|last|full|given|family|your|middle|sur|legal) ?name`, `surname`, `(?:vor|nach)name`, `ihr name`, `prenom`,
			`nom(?: de famille)?`, `votre nom`, `nombre(?: completo)?`, `apellidos?`,
			`nome(?: completo)?`, `sobrenome`, `cognome`, `(?:voor|achter)naam`, `imie`, `nazwisko`, `(?:for|efter)namn`,
			`soyad[iı]?`, `имя`, `фамилия`, `cardholder`, `recipient`,
		},
		{`氏名`, `お名前`, `姓名`, `이름`, `성명`},
	},
	"postal address": {
		{
			`(?:street|postal|home|delivery|shipping|billing|mailing)? ?address(?: ?line)?(?: ?\d)?`, `street`, `zip(?: ?code)?`,
			`post(?:al)? ?code`, `postcode`, `anschrift`, `adresse`, `strasse`,
			`straße`, `hausnummer`, `plz`, `postleitzahl`, `rue`, `code postal`, `direccion`, `calle`, `codigo postal`,
			`endereco`, `rua`, `cep`, `indirizzo`, `adre[s]`, `ulica`, `gatuadress`, `адрес`,
		},
		{`住所`, `地址`, `郵便番号`, `邮编`, `주소`},
	},
	"date of birth": {
		{
			`birth ?(?:day|date)`, `date of birth`, `dob`, `geburts(?:datum|tag)`, `date de naissance`, `fecha de nacimiento`,
			`data de nascimento`, `data di nascita`, `geboortedatum`, `дата рождения`,
		},
		{`生年月日`, `出生日期`, `생년월일`},
	},
	"identity number": {{
		`ssn`, `social security(?: number)?`, `passport(?: ?(?:number|no))?`, `national id`, `id ?card`,
		`steuer ?(?:id|nummer)`, `personalausweis`, `cpf`, `dni`, `nif`, `nie`, `codice fiscale`,
		`bsn`, `pesel`, `personnummer`, `tax ?id`, `driving licen[cs]e`,
	}, {`身份证`, `マイナンバー`, `주민등록`}},
	"bank account": {{
		`iban`, `account ?(?:number|no)`, `kontonummer`, `bic`, `swift`, `routing(?: ?number)?`, `sort code`,
		`numero de cuenta`,
	}, {`口座番号`, `银行账`, `계좌`}},
	"payment card": {{
		`(?:credit|debit|payment)? ?card ?(?:number|no)`, `card`, `cc ?(?:number|num|exp|csc|cvc)`, `cvc`, `cvv2?`,
		`security code`, `kartennummer`, `prufnummer`, `numero de (?:la )?(?:carte|tarjeta)`,
		`numero do cartao`, `numero (?:della )?carta`, `kaartnummer`, `numer karty`, `kortnummer`, `номер карты`,
	}, {`カード番号`, `卡号`, `카드번호`}},
}

//go:embed words.txt
var moreWords string

// unspaced are the languages without spaces between words.
const unspaced = "ja zh ko th"

// wordPatterns returns a regular expression for each class of words. The entry "languages" matches the known languages,
// as pages declare them.
var wordPatterns = sync.OnceValue(func() map[string]string {
	whole, within, first := map[string][]string{}, map[string][]string{}, map[string][]string{}
	for class, entry := range classWords {
		whole[class], within[class] = entry[0], entry[1]
	}
	known := []string{"en", "no", "nn", "iw"} // codes that pages use besides those of words.txt
	for line := range strings.Lines(moreWords) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(fields) < 3 || fields[0] == "#" {
			continue
		}
		list := whole
		class, imperative := strings.CutSuffix(fields[0], "^")
		switch {
		case imperative:
			list = first
		case strings.Contains(unspaced, fields[1]):
			list = within
		}
		list[class] = append(slices.Clip(list[class]), fields[2])
		if fields[1] != "all" {
			known = append(known, fields[1])
		}
	}
	const edge = `[^\p{L}\p{N}]`
	m := map[string]string{"languages": "^(?:" + strings.Join(slices.Compact(slices.Sorted(slices.Values(known))), "|") +
		")$"}
	for class, words := range whole {
		addWords(m, class, `(?:^|`+edge+`)(?:`, words, `)(?:$|`+edge+`)`)
	}
	for class, words := range within {
		addWords(m, class, "", words, "")
	}
	for class, words := range first {
		addWords(m, class, `^`+edge+`*(?:`, words, `)(?:$|`+edge+`)`)
	}
	return m
})

// addWords adds alternatives to the expression of a class.
func addWords(m map[string]string, class, before string, words []string, after string) {
	if len(words) == 0 {
		return
	}
	if m[class] != "" {
		m[class] += "|"
	}
	m[class] += before + foldAll(words) + after
}

func foldAll(alternatives []string) string {
	out := make([]string, len(alternatives))
	for i, a := range alternatives {
		out[i] = decompose(a) // case is kept: \S is not \s
	}
	return strings.Join(out, "|")
}

// foldText normalizes text like the words: lower case, without accents and invisible characters, with single spaces,
// which also replace apostrophes.
func foldText(s string) string {
	apart := strings.NewReplacer("'", " ", "’", " ", "`", " ")
	return strings.Join(strings.Fields(strings.ToLower(apart.Replace(decompose(s)))), " ")
}

// letters replaces letters that resemble others but do not decompose to them.
var letters = strings.NewReplacer("ø", "o", "Ø", "o", "ł", "l", "Ł", "l", "đ", "d", "Đ", "d", "ı", "i", "ß", "ss", "æ",
	"ae", "Æ", "ae", "œ", "oe", "ς", "σ")

func decompose(s string) string {
	return letters.Replace(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.M, r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(s)))
}
