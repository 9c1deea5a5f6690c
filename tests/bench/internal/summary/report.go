package summary

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

// WriteJSON writes a report to a file.
func WriteJSON(path string, report any) error {
	encoded, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(encoded, '\n'), 0o644)
}

// Table prints aligned columns under a title.
func Table(out io.Writer, title string, header []string, rows [][]string) {
	fmt.Fprintf(out, "\n%s\n", title)
	writer := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{header}, rows...) {
		for _, cell := range row {
			fmt.Fprintf(writer, "%s\t", cell)
		}
		fmt.Fprintln(writer)
	}
	_ = writer.Flush()
}

// PrintGoals prints every goal and returns how many were missed.
func PrintGoals(out io.Writer, goals []Goal) (missed int) {
	if len(goals) == 0 {
		return 0
	}
	rows := [][]string{}
	for _, goal := range goals {
		relation, verdict := "<=", "met"
		if goal.AtLeast {
			relation = ">="
		}
		if !goal.Met {
			verdict = "MISSED"
			missed++
		}
		rows = append(rows, []string{goal.Name, fmt.Sprintf("%.3g", goal.Value), relation, fmt.Sprintf("%.3g", goal.Limit), verdict})
	}
	Table(out, "Goals", []string{"goal", "measured", "", "limit", ""}, rows)
	return missed
}
