package console

import (
	"fmt"
	"strconv"
	"time"
)

// bar is what the cache did with an input, as parts of a width of 1000 that touch and
// fill it.
type bar struct {
	cacheTokens
	Parts []barPart
}

type barPart struct {
	Class   string
	X, Size int64
}

// barOf draws an input as wide as it is of the most, which is 0 for the whole width.
func barOf(c cacheTokens, most int64) bar {
	b := bar{cacheTokens: c}
	most = max(most, c.total())
	if most == 0 {
		return b
	}
	done := int64(0)
	for _, part := range []struct {
		class  string
		tokens int64
	}{{"read", c.Read}, {"write", c.Write}, {"fresh", c.Fresh}} {
		from := done * 1000 / most
		done += part.tokens
		if size := done*1000/most - from; size > 0 {
			b.Parts = append(b.Parts, barPart{part.class, from, size})
		}
	}
	return b
}

// Share is how much of it came from the cache.
func (c cacheTokens) Share() string { return percent(c.Read, c.total()) }

// Known reports whether anything is known of it.
func (c cacheTokens) Known() bool { return c.total() > 0 }

// Sentence says the same in words.
func (c cacheTokens) Sentence() string {
	if c.total() == 0 {
		return "not reported"
	}
	return fmt.Sprintf("%s from the cache: %s tokens read, %s written, %s neither", c.Share(), compact(c.Read), compact(c.Write), compact(c.Fresh))
}

// hourChart is the last hour as columns, one for each minute: above what the cache did
// with the input, in hundredths of it, below how much input there was, and in which
// minutes something broke. All columns of a kind are one path, which is drawn sooner
// than many elements.
type hourChart struct {
	Read, Write, Fresh, Volume, Broken boxes
	Spots                              []spot
	Rows                               []hourRow
	Most                               int64 // tokens of the busiest minute
	All                                cacheTokens
}

// boxes is the data of an SVG path of boxes.
type boxes []byte

// box adds a box that is so high, if it is at all.
func (p boxes) box(x, y, width, height int64) boxes {
	if height <= 0 {
		return p
	}
	p = strconv.AppendInt(append(p, 'M'), x, 10)
	p = strconv.AppendInt(append(p, ' '), y, 10)
	p = strconv.AppendInt(append(p, 'h'), width, 10)
	p = strconv.AppendInt(append(p, 'v'), height, 10)
	return append(strconv.AppendInt(append(p, 'h'), -width, 10), 'z')
}

// String is the data.
func (p boxes) String() string { return string(p) }

// spot is where the mouse is told of a column.
type spot struct {
	X     int64
	ID    int64 // of the request, where there is one
	Label string
}

// hourRow is some minutes as a row of a table.
type hourRow struct {
	From, To time.Time
	cacheTokens
	Breaks int64
}

// columnWidth is that of a minute, of which a part is the gap to the next one.
const columnWidth = 10

func chartOf(minutes []minute) hourChart {
	chart := hourChart{All: sum(minutes)}
	for i := range minutes {
		chart.Most = max(chart.Most, minutes[i].cache.total())
	}
	const width = columnWidth - 2
	for i := range minutes {
		m, x := &minutes[i], int64(i*columnWidth)
		total := m.cache.total()
		if total == 0 {
			continue
		}
		label := m.at().Format("15:04") + " UTC: " + m.cache.Sentence()
		if m.breaks > 0 {
			label += "; " + compact(m.breaks) + " processed again after a break"
			chart.Broken = chart.Broken.box(x, 32, width, 4)
		}
		chart.Spots = append(chart.Spots, spot{X: x, Label: label})
		// From below: read, written, neither.
		read, written := m.cache.Read*100/total, (m.cache.Read+m.cache.Write)*100/total
		chart.Read = chart.Read.box(x, 100-read, width, read)
		chart.Write = chart.Write.box(x, 100-written, width, written-read)
		chart.Fresh = chart.Fresh.box(x, 0, width, 100-written)
		height := max(total*30/chart.Most, 1)
		chart.Volume = chart.Volume.box(x, 30-height, width, height)
	}
	const step = 5
	for i := 0; i+step <= len(minutes); i += step {
		part := minutes[i : i+step]
		row := hourRow{From: part[0].at(), To: part[step-1].at().Add(time.Minute), cacheTokens: sum(part)}
		for j := range part {
			row.Breaks += part[j].breaks
		}
		if row.total() > 0 {
			chart.Rows = append(chart.Rows, row)
		}
	}
	return chart
}

// spark is the cache share of a model in the last hour, as columns of a height of 20.
func spark(minutes []minute, name modelName) (p boxes) {
	for i := range minutes {
		c := minutes[i].models[name]
		if total := c.total(); total > 0 {
			height := max(c.Read*20/total, 1)
			p = p.box(int64(i*columnWidth), 20-height, columnWidth-1, height)
		}
	}
	return p
}
