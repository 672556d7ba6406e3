package relay

import (
	"warmpath/gateway/catalog"
	"warmpath/rewrite"
)

// spend reckons what a call has cost once it is over, and counts it with what
// tools the provider ran for it.
func (x *exchange) spend() {
	r := &x.record
	report := &r.Report
	r.Partial = !report.Ended && (report.Output || report.Usage.Known())
	if report.Usage.Known() || report.Activity != nil {
		price := x.price()
		r.Cost = price.Cost(&catalog.Use{
			Usage: report.Usage, Terms: report.Terms, Charged: report.Charged, Activity: report.Activity,
		})
		if e := r.Explanation; e != nil && e.Saved > 0 {
			if saved, ok := price.Saved(e.Saved, &report.Usage); ok {
				x.relay.metrics.SavedDollars(r.Provider, r.Model, saved)
			}
		}
	}
	x.relay.metrics.Hosted(r.Provider, report)
}

// price is that of the model that answered, or was asked; nil where it is not
// known.
func (x *exchange) price() *catalog.Price {
	return x.settings.Catalog.Price(x.target.Provider, x.target.Model, x.record.Report.Model)
}

// money is an amount as people read it: more digits the smaller it is.
func money(c rewrite.Cost) string {
	text := c.Total().Round()
	switch {
	case !c.Known:
		return "?"
	case c.Least:
		return "≥$" + text
	}
	return "$" + text
}
