package demoshop

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strings"
)

// delivery is a way to get things, and its price in cents.
type delivery struct {
	Name  string
	Cents int
}

var deliveries = []delivery{{"Standard, 3 to 5 days", 490}, {"Express, tomorrow", 1490}, {"Collect in the shop", 0}}

var countries = []string{"Austria", "Denmark", "France", "Germany", "Japan", "Portugal", "Spain", "United Kingdom", "United States"}

// order is what the checkout form says.
type order struct {
	Name, Email, Street, Zip, City, Country, Delivery, Note string
	Terms                                                   bool
	Errors                                                  map[string]string // by name of the input
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

// orderNumber returns the order's number: the same order has the same one every time.
func orderNumber(o order, b basket) string {
	h := crc32.NewIEEE()
	fmt.Fprint(h, o.Name, o.Email, o.Street, o.Zip, o.City, o.Country, o.Delivery)
	for _, l := range b {
		fmt.Fprint(h, l.Product.ID, l.Quantity)
	}
	return fmt.Sprintf("LO-%05d", h.Sum32()%100000)
}
