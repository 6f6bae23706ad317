package demoshop

import (
	"fmt"
	"hash/crc32"
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

// basket is a visitor's basket. It is stored in a cookie, as "id:quantity" joined by ".".
type basket []line

// readBasket returns the request's basket without invalid entries.
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

// add returns the basket with n more of p, up to the allowed quantity.
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
	http.SetCookie(w, &http.Cookie{
		Name: basketCookie, Value: strings.Join(items, "."), Path: "/", HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	})
}

// clamp parses a quantity; an invalid one counts as one.
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

// acceptNotice dismisses the cookie notice and redirects back.
func acceptNotice(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{
		Name: noticeCookie, Value: "seen", Path: "/", HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	})
	back := r.FormValue("back")
	if u, err := url.Parse(back); err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(back, "/") ||
		strings.HasPrefix(back, "//") || strings.Contains(back, `\`) {
		back = "/"
	}
	http.Redirect(w, r, back, http.StatusSeeOther) //nolint:gosec // a path of this shop, as checked above
}

// delivery is a delivery option and its price in cents.
type delivery struct {
	Name  string
	Cents int
}

var deliveries = []delivery{{"Standard, 3 to 5 days", 490}, {"Express, tomorrow", 1490}, {"Collect in the shop", 0}}

var countries = []string{
	"Austria", "Denmark", "France", "Germany", "Japan", "Portugal", "Spain", "United Kingdom",
	"United States",
}

// order is the contents of the checkout form.
type order struct {
	Name, Email, Street, Zip, City, Country, Delivery, Note string
	Terms                                                   bool
	Errors                                                  map[string]string // by input name
}

func readOrder(r *http.Request) order {
	get := func(name string) string { return strings.TrimSpace(r.FormValue(name)) }
	return order{
		Name: get("name"), Email: get("email"), Street: get("street"), Zip: get("zip"), City: get("city"),
		Country: get("country"), Delivery: get("delivery"), Note: get("note"), Terms: get("terms") != "",
	}
}

// check fills in Errors.
func (o *order) check() {
	o.Errors = map[string]string{}
	for name, v := range map[string]string{"name": o.Name, "street": o.Street, "zip": o.Zip, "city": o.City} {
		if v == "" {
			o.Errors[name] = "Please fill this in."
		}
	}
	if !strings.Contains(o.Email, "@") {
		o.Errors["email"] = "Please give an address with an @ in it."
	}
	if !slices.Contains(countries, o.Country) {
		o.Errors["country"] = "Please choose a country."
	}
	if !slices.ContainsFunc(deliveries, func(d delivery) bool { return d.Name == o.Delivery }) {
		o.Errors["delivery"] = "Please choose how it gets to you."
	}
	if !o.Terms {
		o.Errors["terms"] = "Please accept that nothing will be sent."
	}
}

func (p pages) checkout(w http.ResponseWriter, r *http.Request) {
	p.form(w, r, http.StatusOK, order{Delivery: deliveries[0].Name})
}

func (p pages) form(w http.ResponseWriter, r *http.Request, status int, o order) {
	b := readBasket(r)
	if len(b) == 0 {
		http.Redirect(w, r, "/basket", http.StatusSeeOther)
		return
	}
	p.write(w, r, status, "checkout", "Checkout", map[string]any{
		"Lines": b, "Sum": b.sum(), "Order": o, "Countries": countries, "Deliveries": deliveries,
	})
}

func (p pages) order(w http.ResponseWriter, r *http.Request) {
	o, b := readOrder(r), readBasket(r)
	o.check()
	if len(o.Errors) > 0 || len(b) == 0 {
		p.form(w, r, http.StatusUnprocessableEntity, o)
		return
	}
	i := slices.IndexFunc(deliveries, func(d delivery) bool { return d.Name == o.Delivery })
	basket(nil).save(w)
	p.write(w, r, http.StatusOK, "order", "Thank you for your order", map[string]any{
		"Number": orderNumber(o, b), "Order": o, "Lines": b, "Delivery": deliveries[i], "Sum": b.sum() + deliveries[i].Cents,
	})
}

// orderNumber returns the order's number, which is the same for equal orders.
func orderNumber(o order, b basket) string {
	h := crc32.NewIEEE()
	fmt.Fprint(h, o.Name, o.Email, o.Street, o.Zip, o.City, o.Country, o.Delivery)
	for _, l := range b {
		fmt.Fprint(h, l.Product.ID, l.Quantity)
	}
	return fmt.Sprintf("LO-%05d", h.Sum32()%100000)
}
