package demoshop

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	basketCookie = "basket"
	noticeCookie = "notice"
	maxQuantity  = 9
)

// line is a product in the basket.
type line struct {
	Product  product
	Quantity int
}

// Sum returns the line's price in cents.
func (l line) Sum() int { return l.Product.Cents * l.Quantity }

// basket is what a visitor wants to buy. It travels in a cookie, as
// "id:quantity" joined by ".".
type basket []line

// readBasket returns the request's basket without whatever in it is not ours.
func readBasket(r *http.Request) basket {
	c, err := r.Cookie(basketCookie)
	if err != nil {
		return nil
	}
	var b basket
	for item := range strings.SplitSeq(c.Value, ".") {
		id, n, _ := strings.Cut(item, ":")
		if p, ok := findProduct(id); ok {
			b = b.add(p, clamp(n))
		}
	}
	return b
}

// add returns the basket with n more of p, as many as are allowed.
func (b basket) add(p product, n int) basket {
	limit := min(maxQuantity, p.Stock)
	if limit == 0 {
		return b
	}
	if i := slices.IndexFunc(b, func(l line) bool { return l.Product.ID == p.ID }); i >= 0 {
		b[i].Quantity = min(b[i].Quantity+n, limit)
		return b
	}
	return append(b, line{p, min(n, limit)})
}

func (b basket) count() int {
	n := 0
	for _, l := range b {
		n += l.Quantity
	}
	return n
}

func (b basket) sum() int {
	n := 0
	for _, l := range b {
		n += l.Sum()
	}
	return n
}

func (b basket) save(w http.ResponseWriter) {
	items := make([]string, len(b))
	for i, l := range b {
		items[i] = l.Product.ID + ":" + strconv.Itoa(l.Quantity)
	}
	http.SetCookie(w, &http.Cookie{Name: basketCookie, Value: strings.Join(items, "."), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

// clamp reads a quantity; what is none counts as one.
func clamp(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1
	}
	return max(1, min(n, maxQuantity))
}

func (p pages) basket(w http.ResponseWriter, r *http.Request) {
	b := readBasket(r)
	p.write(w, r, http.StatusOK, "basket", "Your basket", map[string]any{"Lines": b, "Sum": b.sum()})
}

func addToBasket(w http.ResponseWriter, r *http.Request) {
	p, ok := findProduct(r.FormValue("id"))
	if !ok || p.Stock == 0 {
		http.Error(w, "this cannot be put into the basket", http.StatusConflict)
		return
	}
	readBasket(r).add(p, clamp(r.FormValue("quantity"))).save(w)
	http.Redirect(w, r, "/basket", http.StatusSeeOther)
}

func removeFromBasket(w http.ResponseWriter, r *http.Request) {
	id := r.FormValue("id")
	slices.DeleteFunc(readBasket(r), func(l line) bool { return l.Product.ID == id }).save(w)
	http.Redirect(w, r, "/basket", http.StatusSeeOther)
}

// acceptNotice puts the cookie notice away and goes back to where it was.
func acceptNotice(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: noticeCookie, Value: "seen", Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	back := r.FormValue("back")
	if u, err := url.Parse(back); err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(back, "/") || strings.HasPrefix(back, "//") || strings.Contains(back, `\`) {
		back = "/"
	}
	http.Redirect(w, r, back, http.StatusSeeOther) //nolint:gosec // a path of this shop, as checked above
}
