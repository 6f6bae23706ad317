package demoshop_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"clank/internal/demoshop"
	"clank/internal/test/check"
)

// visitor is a browser without scripts.
type visitor struct {
	t    *testing.T
	base string
	http *http.Client
}

func visit(t *testing.T) *visitor {
	t.Helper()
	srv := httptest.NewServer(demoshop.Handler())
	t.Cleanup(srv.Close)
	jar, err := cookiejar.New(nil)
	check.Must(t, err)
	return &visitor{t, srv.URL, &http.Client{Jar: jar}}
}

func (v *visitor) get(path string) (int, string) {
	v.t.Helper()
	return v.body(v.http.Get(v.base + path))
}

func (v *visitor) post(path string, pairs ...string) (int, string) {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return v.body(v.http.PostForm(v.base+path, form))
}

func (v *visitor) body(res *http.Response, err error) (int, string) {
	v.t.Helper()
	check.Must(v.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	check.Must(v.t, err)
	return res.StatusCode, string(b)
}

func TestSearchingForALampFindsSeveralWithPrices(t *testing.T) {
	v := visit(t)
	_, home := v.get("/")
	check.Contains(t, home, `<label for="q">Search</label>`, "Aurora Desk Lamp", "Walnut Desk")
	for _, q := range []string{"lamp", "LAMPS", " lamp "} {
		_, found := v.get("/search?q=" + url.QueryEscape(q))
		check.Contains(t, found, "6 results", "Aurora Desk Lamp", "€ 49.00", "Harbour Floor Lamp", "€ 129.00", "Out of stock")
		if strings.Contains(found, "Walnut Desk") {
			t.Errorf("searching for %q finds a desk", q)
		}
	}
	_, none := v.get("/search?q=%3Cscript%3E")
	check.Contains(t, none, "0 results", "&lt;script&gt;", "Nothing fits")
}

func TestResultsCanBeNarrowedAndSorted(t *testing.T) {
	v := visit(t)
	_, page := v.get("/search?category=Lamps&sort=price")
	order := regexp.MustCompile(`class="name">([^<]+)<`).FindAllStringSubmatch(page, -1)
	if len(order) != 6 || order[0][1] != "Clip Studio Lamp" || order[5][1] != "Harbour Floor Lamp" {
		t.Errorf("lamps by price: %v", order)
	}
	_, all := v.get("/search?category=no+such")
	check.Equal(t, "products", strings.Count(all, `class="card"`), 24)
}

func TestProductsOutOfStockCannotBeBought(t *testing.T) {
	v := visit(t)
	_, page := v.get("/product/lantern-camping-lamp")
	check.Contains(t, page, "<button disabled>Out of stock</button>")
	if status, _ := v.post("/basket", "id", "lantern-camping-lamp"); status != http.StatusConflict {
		t.Errorf("status = %d", status)
	}
}

func TestAnOrderFromTheBasketToTheConfirmation(t *testing.T) {
	v := visit(t)
	_, page := v.post("/basket", "id", "aurora-desk-lamp", "quantity", "2")
	check.Contains(t, page, "Aurora Desk Lamp", "€ 98.00", "Go to checkout", "<b>2</b>")
	v.post("/basket", "id", "mug-set", "quantity", "1")
	_, page = v.post("/basket/remove", "id", "mug-set")
	check.Lacks(t, page, "Mugs")
	_, page = v.get("/checkout")
	check.Contains(t, page, "Choose a country", "Place order", "Full name")

	status, page := v.post("/checkout", "name", "Ada <b>", "email", "nobody")
	check.Equal(t, "status of an incomplete order", status, http.StatusUnprocessableEntity)
	check.Contains(t, page, "Please look at the marked fields", "Please choose a country", "an @ in it", "Ada &lt;b&gt;")

	form := []string{
		"name", "Ada", "email", "ada@example.com", "street", "Hill 1", "zip", "1000", "city", "Lisbon",
		"country", "Portugal", "delivery", "Express, tomorrow", "terms", "yes",
	}
	_, page = v.post("/checkout", form...)
	check.Contains(t, page, "Thank you for your order", "To Ada, Hill 1, 1000 Lisbon, Portugal", "€ 112.90")
	number := regexp.MustCompile(`LO-\d{5}`).FindString(page)
	_, empty := v.get("/basket")
	check.Contains(t, empty, "It is empty")

	again := visit(t)
	again.post("/basket", "id", "aurora-desk-lamp", "quantity", "2")
	_, page = again.post("/checkout", form...)
	if got := regexp.MustCompile(`LO-\d{5}`).FindString(page); got != number || got == "" {
		t.Errorf("the same order has number %q, then %q", number, got)
	}
}

func TestCheckoutNeedsSomethingInTheBasket(t *testing.T) {
	v := visit(t)
	for range 2 {
		_, page := v.get("/checkout")
		check.Contains(t, page, "It is empty")
		_, page = v.post("/checkout", "name", "x")
		check.Contains(t, page, "It is empty")
	}
}

func TestAForgedBasketIsReadAsFarAsItMakesSense(t *testing.T) {
	v := visit(t)
	u, _ := url.Parse(v.base)
	v.http.Jar.SetCookies(u, []*http.Cookie{
		{Name: "basket", Value: "mug-set:99999.nothing:3..rocking-chair:5.lantern-camping-lamp:1.tea-pot:x"},
	})
	_, page := v.get("/basket")
	check.Contains(t, page, "<td>9</td>", "<td>1</td>", "Quiet Teapot")
	check.Lacks(t, page, "Lantern")
}

func TestTheNoticeIsDismissedAndRedirectsOnlyWithinTheShop(t *testing.T) {
	v := visit(t)
	_, page := v.get("/search?q=lamp")
	check.Contains(t, page, "We use one cookie", `value="/search?q=lamp"`)
	_, page = v.post("/notice", "back", "/search?q=lamp")
	check.Contains(t, page, "6 results")
	check.Lacks(t, page, "We use one cookie")
	v.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, away := range []string{"https://example.com/", "//example.com", `/\example.com`, "", "javascript:alert(1)"} {
		res, err := v.http.PostForm(v.base+"/notice", url.Values{"back": {away}})
		check.Must(t, err)
		res.Body.Close()
		check.Equal(t, "back to "+away+" leads to", res.Header.Get("Location"), "/")
	}
}

func TestUnknownAddressesAreNotFound(t *testing.T) {
	v := visit(t)
	for _, path := range []string{"/nothing", "/product/none", "/static/none.css"} {
		if status, _ := v.get(path); status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, status)
		}
	}
	if status, _ := v.get("/static/shop.css"); status != http.StatusOK {
		t.Errorf("style sheet: status %d", status)
	}
	if status, _ := v.post("/checkout", "note", strings.Repeat("x", 100<<10)); status == http.StatusInternalServerError {
		t.Errorf("too much text: status %d", status)
	}
}
