package dev.apportion.cli;

import dev.apportion.simulation.Interval;
import java.awt.Color;
import java.awt.Font;
import java.awt.GraphicsEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.apache.batik.svggen.SVGGeneratorContext;
import org.apache.batik.svggen.SVGGraphics2D;
import org.apache.batik.svggen.SVGIDGenerator;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.AxesChartStyler;

/** Draws plots, as PNG and as SVG: the same bytes for the same plot, the same fonts and the same Java. */
final class PlotDrawing {

    static final int WIDTH = 860;
    static final int HEIGHT = 420;
    private static final double MILLIS = 1000;

    /** Means that differ by more are drawn on a logarithmic axis. */
    private static final double MUCH = 50;

    /** Digits after the point of what is drawn: a hundredth of a pixel. */
    private static final int DIGITS = 2;

    private static final MathContext TICK = new MathContext(6);

    private static final Color GRID = new Color(0xDDDDDD);

    private PlotDrawing() {}

    /** Why plots cannot be drawn on this system, with advice; empty if they can. */
    static Optional<String> hindrance() {
        System.setProperty("java.awt.headless", "true");
        try {
            if (GraphicsEnvironment.getLocalGraphicsEnvironment().getAvailableFontFamilyNames().length > 0) {
                return Optional.empty();
            }
        } catch (RuntimeException | LinkageError | InternalError e) {
            // Java tells a system without fontconfig in several ways.
        }
        return Optional.of(
                "plots need a font, and this system has none; maybe install fontconfig and fonts-dejavu-core");
    }

    static byte[] png(Plot plot) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            ImageIO.write(BitmapEncoder.getBufferedImage(chart(plot)), "png", bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /**
     * A document of its own.
     *
     * @param prefix of the identifiers in it, which must be unique where several stand in one page
     */
    static String svg(Plot plot, String prefix) {
        try {
            SVGGeneratorContext context = SVGGeneratorContext.createDefault(
                    DocumentBuilderFactory.newInstance().newDocumentBuilder().newDocument());
            context.setPrecision(DIGITS);
            context.setComment(plot.title().replace("--", "-"));
            context.setIDGenerator(new SVGIDGenerator() {
                @Override
                public String generateID(String kind) {
                    return super.generateID(prefix + kind);
                }
            });
            SVGGraphics2D graphics = new SVGGraphics2D(context, false);
            chart(plot).paint(graphics, WIDTH, HEIGHT);
            StringWriter text = new StringWriter();
            graphics.stream(text, true);
            return text.toString().replace("\"genericDefs\"", "\"%sgenericDefs\"".formatted(prefix));
        } catch (ParserConfigurationException e) {
            throw new IllegalStateException("The JDK has no parser of XML", e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Chart<?, ?> chart(Plot plot) {
        double scale = plot.metric().unit().equals("s") ? MILLIS : 1;
        String y = plot.metric().id() + (scale == 1 ? "" : ", ms");
        boolean logarithmic = differMuch(plot);
        return plot.numbers() ? lines(plot, y, scale, logarithmic) : bars(plot, y, scale, logarithmic);
    }

    private static boolean differMuch(Plot plot) {
        double least = Double.POSITIVE_INFINITY;
        double most = 0;
        for (Map<String, Interval> series : plot.series().values()) {
            for (Interval interval : series.values()) {
                least = Math.min(least, interval.mean());
                most = Math.max(most, interval.mean());
            }
        }
        return least > 0 && most / least > MUCH;
    }

    private static Chart<?, ?> lines(Plot plot, String y, double scale, boolean logarithmic) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(plot.title())
                .xAxisTitle(plot.xName())
                .yAxisTitle(y)
                .build();
        plot.series().forEach((name, values) -> {
            List<Double> xs = new ArrayList<>();
            List<Double> means = new ArrayList<>();
            List<Double> halves = new ArrayList<>();
            values.forEach((x, interval) -> {
                xs.add(Double.valueOf(x));
                means.add(interval.mean() * scale);
                halves.add(bar(interval, logarithmic) * scale);
            });
            chart.addSeries(name, xs, means, halves);
        });
        style(chart.getStyler(), logarithmic, foot(plot, scale));
        return chart;
    }

    private static Chart<?, ?> bars(Plot plot, String y, double scale, boolean logarithmic) {
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(plot.title())
                .xAxisTitle(plot.xName())
                .yAxisTitle(y)
                .build();
        plot.series().forEach((name, values) -> {
            List<Double> means = new ArrayList<>();
            List<Double> halves = new ArrayList<>();
            for (String x : plot.xs()) {
                Interval interval = values.getOrDefault(x, new Interval(0, 0));
                means.add(interval.mean() * scale);
                halves.add(bar(interval, logarithmic) * scale);
            }
            chart.addSeries(name, plot.xs(), means, halves);
        });
        style(chart.getStyler(), logarithmic, foot(plot, scale));
        chart.getStyler().setLegendVisible(plot.series().size() > 1);
        return chart;
    }

    /** The half of an error bar; none where it is not known, or would go below what a logarithm has. */
    private static double bar(Interval interval, boolean logarithmic) {
        boolean drawn = Double.isFinite(interval.half()) && !(logarithmic && interval.half() >= interval.mean());
        return drawn ? interval.half() : 0;
    }

    /** The power of ten below all that is drawn on a logarithmic axis: bars would begin at zero there, which it has not. */
    private static double foot(Plot plot, double scale) {
        double least = plot.series().values().stream()
                .flatMap(series -> series.values().stream())
                .mapToDouble(interval -> interval.mean() - bar(interval, true))
                .min()
                .orElse(1);
        return Math.pow(10, Math.floor(Math.log10(least * scale)));
    }

    private static void style(AxesChartStyler styler, boolean logarithmic, double foot) {
        Font font = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
        styler.setYAxisLogarithmic(logarithmic)
                .setAxisTitleFont(font)
                .setAxisTickLabelsFont(font)
                .setErrorBarsColorSeriesColor(true)
                .setChartBackgroundColor(Color.WHITE)
                .setPlotBorderColor(GRID)
                .setLegendBorderColor(GRID)
                .setLegendFont(font)
                .setChartTitleFont(font.deriveFont(Font.BOLD, 13));
        if (logarithmic) {
            styler.setYAxisMin(foot);
            styler.setYAxisTickLabelsFormattingFunction(value ->
                    new BigDecimal(value).round(TICK).stripTrailingZeros().toPlainString());
        } else {
            styler.setYAxisMin(0.0);
        }
    }
}
