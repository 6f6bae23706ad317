package intent_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/intent"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// sample is a piece of a page, and the effects of clicking the element with the class t (or, for a field, of pressing
// Enter in it).
type sample struct {
	html string
	want string // classes, the weightiest first
	at   string // path of its page; "" is "/"
}

const (
	filledMail = `<input type=email value=a@b.c>`
	cardField  = `<input autocomplete=cc-number value=4111>`
)

// corpus holds the samples by which judgements are measured.
var corpus = []sample{
	// Buying, in many languages.
	{html: `<button class=t>Buy now</button>`, want: "buy"},
	{html: `<button class=t>Place your order</button>`, want: "buy"},
	{html: `<form method=post><button class=t>Pay € 12.90</button></form>`, want: "buy"},
	{html: `<a class=t href="/buy?id=1">Buy now</a>`, want: "buy"},
	{html: `<a class=t href="#" role=button>Complete purchase</a>`, want: "buy"},
	{html: `<button class=t>Jetzt kaufen</button>`, want: "buy"},
	{html: `<button class=t>Zahlungspflichtig bestellen</button>`, want: "buy"},
	{html: `<button class=t>Acheter</button>`, want: "buy"},
	{html: `<button class=t>Passer la commande</button>`, want: "buy"},
	{html: `<button class=t>Comprar ahora</button>`, want: "buy"},
	{html: `<button class=t>Realizar pedido</button>`, want: "buy"},
	{html: `<button class=t>Finalizar compra</button>`, want: "buy"},
	{html: `<button class=t>Acquista ora</button>`, want: "buy"},
	{html: `<button class=t>Effettua l'ordine</button>`, want: "buy"},
	{html: `<button class=t>Nu kopen</button>`, want: "buy"},
	{html: `<button class=t>Kup teraz</button>`, want: "buy"},
	{html: `<button class=t>Zapłać</button>`, want: "buy"},
	{html: `<button class=t>Köp nu</button>`, want: "buy"},
	{html: `<button class=t>Satın al</button>`, want: "buy"},
	{html: `<button class=t>Оплатить</button>`, want: "buy"},
	{html: `<button class=t>注文を確定する</button>`, want: "buy"},
	{html: `<button class=t>立即购买</button>`, want: "buy"},
	{html: `<button class=t>결제하기</button>`, want: "buy"},
	{html: `<button class=t>B&#8203;uy n&#8203;ow</button>`, want: "buy"},
	{html: `<button class=t aria-label="Buy now">Next</button>`, want: "buy"},
	{html: `<button class=t aria-label="Next">Buy now</button>`, want: "buy"},
	{html: `<button class=t><img alt="Pay" src="data:,"></button>`, want: "buy"},
	{html: `<input class=t type=submit value="Order now" form=f><form id=f method=post></form>`, want: "buy"},
	{html: `<form method=post>` + cardField + `<button class=t>Next</button></form>`, want: "buy submit"},
	{html: `<form method=post action=/payment><button class=t>Continue</button></form>`, want: "buy"},
	{html: `<form method=post><button class=t>Confirm</button></form>`, want: "buy", at: "/checkout"},
	{html: `<button class=t>Donate</button>`, want: "buy"},
	{html: `<button class=t>Book now</button>`, want: "buy"},
	{html: `<button class=t><span>Buy</span> <span>again</span></button>`, want: "buy"},
	{html: `<div onclick="1" class=t>Buy now</div>`, want: "buy"},
	{html: `<button><span><b class=t>Buy now</b></span></button>`, want: "buy"},
	// Sending and publishing.
	{html: `<button class=t>Send</button>`, want: "send"},
	{html: `<form method=post><textarea>hi</textarea><button class=t>Post comment</button></form>`, want: "send"},
	{html: `<button class=t>Publish now</button>`, want: "send"},
	{html: `<button class=t>Nachricht senden</button>`, want: "send"},
	{html: `<button class=t>Publier</button>`, want: "send"},
	{html: `<button class=t>Enviar mensaje</button>`, want: "send"},
	{html: `<button class=t>Invia</button>`, want: "send"},
	{html: `<button class=t>Wyślij</button>`, want: "send"},
	{html: `<button class=t>Отправить</button>`, want: "send"},
	{html: `<button class=t>投稿する</button>`, want: "send"},
	{html: `<button class=t>发送</button>`, want: "send"},
	{html: `<div><textarea class=t>hello</textarea><button>Send</button></div>`, want: "send"},
	{
		html: `<div><div contenteditable=true class=t>hello</div><button aria-label="Send message">➤</button></div>`,
		want: "send",
	},
	{
		html: `<form method=post>` + filledMail + `<textarea>x</textarea><button class=t>Send message</button></form>`,
		want: "send submit",
	},
	// Deleting.
	{html: `<button class=t>Delete</button>`, want: "delete"},
	{html: `<button class=t>Close account</button>`, want: "delete"},
	{html: `<a class=t href="/unsubscribe?u=1">Unsubscribe</a>`, want: "delete"},
	{html: `<button class=t>Cancel my subscription</button>`, want: "delete"},
	{html: `<button class=t>Konto löschen</button>`, want: "delete"},
	{html: `<button class=t>Supprimer</button>`, want: "delete"},
	{html: `<button class=t>Eliminar cuenta</button>`, want: "delete"},
	{html: `<button class=t>削除する</button>`, want: "delete"},
	{html: `<button class=t>Удалить</button>`, want: "delete"},
	{html: `<button class=t title="Remove">×</button>`, want: "delete"},
	// Personal data.
	{html: `<form method=post>` + filledMail + `<button class=t>Sign up</button></form>`, want: "submit"},
	{
		html: `<form method=post><label>Vorname <input value=Ada></label><button class=t>Weiter</button></form>`,
		want: "submit",
	},
	{html: `<form method=post><label>電話番号 <input value=12></label><button class=t>次へ</button></form>`, want: "submit"},
	{html: `<form method=post><input name=firstName value=Ada><button class=t>Next</button></form>`, want: "submit"},
	{
		html: `<form method=post><input placeholder="Code postal" value=75001><button class=t>Suivant</button></form>`,
		want: "submit",
	},
	{html: `<form method=post><input name=iban value=DE1><button class=t>Save</button></form>`, want: "submit"},
	{html: `<form method=post><label>Date of birth<input type=date value=1815-12-10></label><button class=t>OK</button></form>`, want: "submit"},
	{html: `<form method=post><input type=email class=t value=a@b.c></form>`, want: "submit"},
	{html: `<form method=post><input type=email class=t value=a@b.c><button>Subscribe</button></form>`, want: "submit"},
	{
		html: `<form method=post>` + filledMail +
			`<input type=password autocomplete=new-password value=x><button class=t>Create account</button></form>`,
		want: "submit",
	},
	{html: `<div>` + filledMail + `<button class=t>Continue</button></div>`, want: "submit"},
	{
		html: `<form method=post>` + filledMail + `<label class=t for=lb>Go on</label><button id=lb>Go on</button></form>`,
		want: "submit",
	},
	{
		html: `<form method=post><input name=action><input type=tel value=1><button class=t>Go</button></form>`,
		want: "submit",
	},
	// A program.
	{html: `<a class=t href="/setup.exe">Get it</a>`, want: "executable"},
	{html: `<a class=t href="/app.dmg" download>For Mac</a>`, want: "executable"},
	// Nothing that people would want to be asked about.
	{html: `<button class=t>Add to cart</button>`},
	{html: `<form method=post action=/basket><button class=t>Add to basket</button></form>`},
	{html: `<button class=t>In den Warenkorb</button>`},
	{html: `<button class=t>Ajouter au panier</button>`},
	{html: `<button class=t>Añadir al carrito</button>`},
	{html: `<button class=t>カートに入れる</button>`},
	{html: `<button class=t>加入购物车</button>`},
	{html: `<a class=t href="/cart">View cart</a>`},
	{html: `<a class=t href="/checkout">Checkout</a>`},
	{html: `<form role=search><input name=q value=lamp><button class=t>Search</button></form>`},
	{html: `<form><input name=q value=lamp class=t><button>Send</button></form>`},
	{html: `<form><input type=search value=lamp><button class=t>Send</button></form>`},
	{html: `<form method=get><input name=suche value="Ada Lovelace"><button class=t>Suchen</button></form>`},
	{html: `<form method=post><input name=user value=ada><input type=password value=x><button class=t>Log in</button></form>`},
	{html: `<form method=post>` + filledMail +
		`<input type=password value=x autocomplete=current-password class=t><button>Sign in</button></form>`},
	{html: `<form method=post><input type=email autocomplete=username value=a@b.c><button class=t>Next</button></form>`},
	{html: `<div><p>We use cookies to share data</p><button class=t>Accept all</button><button>Reject</button></div>`},
	{html: `<button class=t>Agree and close</button>`},
	{html: `<form method=post><input type=email><button class=t>Sign up</button></form>`},
	{html: `<button class=t>Next</button>`},
	{html: `<button class=t>Sort by price</button>`},
	{html: `<select class=t><option>Buy</option></select>`},
	{html: `<form method=post><label><input type=checkbox class=t> Delete me later</label><button>Save</button></form>`},
	{html: `<label><input type=checkbox class=t> Delete me later</label>`, want: "delete"}, // no button follows
	{html: `<a class=t href="/blog/1">How to delete a post and buy a lamp</a>`},
	{html: `<a class=t href="/lamps">Buy lamps</a>`},
	{html: `<a class=t href="/posts">Posts</a>`},
	{html: `<a class=t href="/help">Payment methods</a>`},
	{html: `<button class=t>Remove</button>`, at: "/cart"},
	{html: `<button class=t>Order history</button>`},
	{html: `<textarea class=t>hello</textarea>`},
	{html: `<form method=post>` + filledMail + `<textarea class=t>hello</textarea><button>Next</button></form>`},
	{html: `<input class=t name=lamp value=x>`},
	{html: `<button class=t>Load more</button>`},
	{html: `<button class=t>Show phone number</button>`},
	{html: `<article>` + filledMail + `</article><button class=t>Menu</button>`},
	{html: `<form method=post><input name=quantity value=2><select name=color><option>red</select><button class=t>Update</button></form>`},
	// What a control is, and what belongs to it.
	{html: `<form method=post>` + filledMail + `<input type=submit value=Next class=t></form>`, want: "submit"},
	{html: `<form method=post>` + filledMail + `<input type=image alt=Next src="data:," class=t></form>`, want: "submit"},
	{html: `<form method=post>` + filledMail + `<input type=button value="Show map" class=t></form>`},
	{html: `<form method=post><textarea autocomplete=street-address>1 Main St</textarea><button class=t>Next</button></form>`, want: "submit"},
	{html: `<form method=post><input name=name value=Ada><button class=t>Next</button></form>`, want: "submit"},
	{html: `<form method=post><label>Lamp <input name=name value=x></label><button class=t>Next</button></form>`},
	{html: `<form><input type=search value=x><input name=near value=here><button class=t>Send</button></form>`},
	{html: `<form role=search method=post><button class=t>Send</button></form>`, want: "send"},
	{html: `<form><p><b><i><input type=search value=x></i></b></p><div><b><i><button class=t>Send</button></i></b></div></form>`},
	{html: `<section><p><b><i><input type=search value=x></i></b></p><div><b><i><button class=t>Send</button></i></b></div></section>`, want: "send"},
	{html: `<form method=post><input name=user value=ada><input type=password value=x><button class=t aria-label="Sign up">Go</button></form>`, want: "submit"},
	{html: `<form method=post><button class=t>OK</button></form>`, want: "buy", at: "/checkout"},
	{
		html: `<div><input name=lamp value=x><button class=t>Confirm these details</button></div>`, want: "buy",
		at: "/checkout",
	},
	// What a question is about, and what was chosen before.
	{html: `<div role=dialog><h2>Buy this lamp?</h2><button class=t>Yes</button></div>`, want: "buy"},
	{html: `<div role=dialog><h2>Remove this file?</h2><button class=t>Yes</button></div>`, want: "delete"},
	{html: `<div role=dialog><h2>Delete this file?</h2><button class=t>Keep it</button></div>`},
	{html: `<div role=dialog><h2>We use cookies</h2><p>May we send them?</p><button class=t>Yes</button></div>`},
	{
		html: `<form method=post><label><input type=radio name=a checked>Buy now</label><button class=t>Next</button></form>`,
		want: "buy",
	},
	{html: `<form><label><input type=radio name=a checked>Buy now</label><button class=t>Next</button></form>`},
	{html: `<form method=post><select><option>Send</select><button class=t>Next</button></form>`},
	// What cannot be read.
	{html: `<p lang=sw><button class=t>Fungua</button></p>`, want: "unclear"},
	{html: `<p lang=sw><button class=t aria-expanded=false>Fungua</button></p>`},
	{html: `<p lang=sw><a class=t role=menuitem href="/x">Fungua</a></p>`},
	{html: `<form role=search lang=sw><input name=q value=x><button class=t>Tafuta</button></form>`},
	{html: `<form method=post lang=sw><input name=user value=ada><input type=password value=x><button class=t>Ingia</button></form>`},
	{html: `<form method=post><button class=t><svg></svg></button></form>`, want: "unclear"},
	{html: `<form><button class=t><svg></svg></button></form>`},
	{html: `<ul><li>report.pdf <button class=t><svg></svg></button></li></ul>`, want: "unclear"},
	{html: `<ul><li><button class=t><svg></svg></button></li></ul>`},
}

// shop serves the corpus: the samples of a path are on one page.
func shop(t *testing.T) string {
	t.Helper()
	return browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><title>Corpus</title>")
		for i, c := range corpus {
			if at := c.at; at == r.URL.Path || at == "" && r.URL.Path == "/" {
				html := strings.NewReplacer("id=f", fmt.Sprintf("id=f%d", i), "form=f>", fmt.Sprintf("form=f%d>", i), "lb>",
					fmt.Sprintf("lb%d>", i)).Replace(c.html)
				fmt.Fprintf(w, "<section id=c%d>%s</section>\n", i, html)
			}
		}
	}).URL
}

// press returns the action that a person would perform on the element of a sample.
func (c sample) press(ctx context.Context, tab *page.Tab, selector string) (page.Action, error) {
	for _, field := range []string{
		"<textarea class=t", "contenteditable=true class=t", "class=t value=",
		"value=lamp class=t", "current-password class=t", "<input class=t name",
	} {
		if strings.Contains(c.html, field) {
			fn := fmt.Sprintf("document.querySelector(%q).focus()", selector)
			_, err := tab.Act(ctx, page.Action{Kind: actiontable.KindEvaluate, Fn: fn})
			return page.Action{Kind: actiontable.KindPress, Key: "Enter"}, err
		}
	}
	return page.Action{Kind: actiontable.KindClick, Selector: selector}, nil
}

func TestTheCorpusIsJudgedAsPeopleWould(t *testing.T) {
	if testing.Short() {
		t.Skip("many cases, one after the other")
	}
	base := shop(t)
	if len(corpus) < 80 {
		t.Fatalf("%d samples", len(corpus))
	}
	tabs := map[string]*page.Tab{}
	for i, c := range corpus {
		if tabs[c.at] == nil {
			tabs[c.at] = openTab(t, base+"/"+strings.TrimPrefix(c.at, "/"))
		}
		ctx := browsertest.Within(t, time.Minute)
		selector := fmt.Sprintf("#c%d .t", i)
		a, err := c.press(ctx, tabs[c.at], selector)
		check.Must(t, err)
		j, err := intent.JudgeAction(ctx, tabs[c.at], a)
		if err != nil {
			t.Fatalf("%s: %v", c.html, err)
		}
		check.Equal(t, fmt.Sprintf("%s %s", a.Kind, c.html), strings.Join(j.Classes, " "), c.want)
		if (j.Mark == "") != (c.want == "") || (j.Text == "") != (c.want == "") {
			t.Errorf("%s: mark %q, text %q", c.html, j.Mark, j.Text)
		}
	}
}
