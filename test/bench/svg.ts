// A plain bar chart as SVG. It brings its own ground, so it can be read on light and dark pages alike, whichever of the
// two the page and the reader's system have agreed on.

export type Bar = {
  label: string;
  value: number;
  /** What stands beside the bar, as the reader should see the number. */
  text: string;
  /** True for what the chart is about. */
  isOurs?: boolean;
};

export type Chart = {
  title: string;
  /** What the length of a bar means, with its unit. */
  caption: string;
  bars: readonly Bar[];
};

const WIDTH = 760;
const LABEL_WIDTH = 250;
const TEXT_WIDTH = 120;
const BAR_HEIGHT = 22;
const STEP = 34;
const TOP = 64;
const MARGIN = 20;

const STYLE = [
  "text{font:14px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1f2328}",
  ".ground{fill:#ffffff;stroke:#d1d9e0}.title{font-size:16px;font-weight:600}.quiet{fill:#59636e;font-size:12px}",
  ".bar{fill:#8c959f}.ours{fill:#1a7f37}",
  "@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.ground{fill:#0d1117;stroke:#3d444d}",
  ".quiet{fill:#9198a1}.bar{fill:#656c76}.ours{fill:#3fb950}}",
].join("");

/** Returns the chart as a whole SVG file. Equal charts give equal bytes. */
export function barChart({ title, caption, bars }: Chart): string {
  const height = TOP + bars.length * STEP + MARGIN;
  const longest = Math.max(...bars.map((bar) => bar.value), Number.MIN_VALUE);
  const room = WIDTH - LABEL_WIDTH - TEXT_WIDTH - MARGIN;
  const summary = bars.map((bar) => `${bar.label}: ${bar.text}`).join("; ");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" ` +
      `viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${escaped(title)}</title><desc>${escaped(`${caption}. ${summary}`)}</desc><style>${STYLE}</style>`,
    `<rect class="ground" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>`,
    `<text class="title" x="${MARGIN}" y="28">${escaped(title)}</text>`,
    `<text class="quiet" x="${MARGIN}" y="48">${escaped(caption)}</text>`,
    ...bars.flatMap((bar, index) => {
      const y = TOP + index * STEP;
      // A bar of no length would look like a missing one.
      const length = Math.max(2, Math.round((bar.value / longest) * room));
      return [
        `<text x="${LABEL_WIDTH}" y="${y + 16}" text-anchor="end">${escaped(bar.label)}</text>`,
        `<rect class="${bar.isOurs ? "ours" : "bar"}" x="${LABEL_WIDTH + 10}" y="${y}" ` +
          `width="${length}" height="${BAR_HEIGHT}" rx="3"/>`,
        `<text x="${LABEL_WIDTH + 18 + length}" y="${y + 16}">${escaped(bar.text)}</text>`,
      ];
    }),
    "</svg>",
    "",
  ].join("\n");
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}
