package dev.apportion.api;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import com.fasterxml.jackson.databind.BeanProperty;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.deser.ContextualDeserializer;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.type.LogicalType;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads a spec or a status, or yields null and leaves the reason with the resource. */
final class TolerantReader extends JsonDeserializer<Object> implements ContextualDeserializer {

    private static final int MAX_VALUE_LENGTH = 80;

    /** As strict about types as the schema; a field that this version does not know is ignored. */
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .withCoercionConfig(LogicalType.Textual, text -> {
                text.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail);
                text.setCoercion(CoercionInputShape.Float, CoercionAction.Fail);
                text.setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail);
            })
            .enable(DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
            .build();

    private final String property;
    private final JavaType type;

    /** Called by Jackson before it knows the property. */
    TolerantReader() {
        this("", MAPPER.constructType(Object.class));
    }

    private TolerantReader(String property, JavaType type) {
        this.property = property;
        this.type = type;
    }

    @Override
    public JsonDeserializer<?> createContextual(DeserializationContext context, BeanProperty property) {
        return new TolerantReader(property.getName(), property.getType());
    }

    @Override
    public @Nullable Object deserialize(JsonParser parser, DeserializationContext context) throws IOException {
        ApportionResource<?, ?> owner =
                property.equals("spec") && resource(parser) instanceof ApportionResource<?, ?> resource
                        ? resource
                        : null;
        JsonNode tree = context.readTree(parser);
        Object value;
        String reason;
        try {
            value = MAPPER.treeToValue(tree, type);
            reason = value instanceof Record spec && owner != null ? Bounds.broken(property, spec) : null;
        } catch (JacksonException | IllegalArgumentException e) {
            value = null;
            reason = reason(e, tree);
        }
        if (reason == null) {
            return value;
        }
        if (owner != null) {
            owner.unreadable(reason, tree);
        }
        return null;
    }

    /** The object that the property belongs to: the parser has entered the property's own value already, if it has parts. */
    private static @Nullable Object resource(JsonParser parser) {
        JsonStreamContext context = parser.getParsingContext();
        boolean entered = parser.hasToken(JsonToken.START_OBJECT) || parser.hasToken(JsonToken.START_ARRAY);
        return entered ? context.getParent().getCurrentValue() : context.getCurrentValue();
    }

    /** What is wrong, as {@code spec.sites[0].capacity: "abc" must be ...}. */
    private String reason(Exception problem, JsonNode tree) {
        StringBuilder path = new StringBuilder(property);
        JsonNode value = tree;
        if (problem instanceof JsonMappingException mapping) {
            for (JsonMappingException.Reference step : mapping.getPath()) {
                if (step.getFieldName() != null) {
                    path.append('.').append(step.getFieldName());
                    value = value.path(step.getFieldName());
                } else {
                    path.append('[').append(step.getIndex()).append(']');
                    value = value.path(step.getIndex());
                }
            }
        }
        if (problem.getCause() instanceof InvalidComponent component) {
            return path + "." + component.getMessage();
        }
        String shown = value.isValueNode() ? " " + abbreviated(value.toString()) : "";
        return path + ":" + shown + " " + expected(problem);
    }

    private static String expected(Exception problem) {
        if (problem.getCause() instanceof IllegalArgumentException rule) {
            return String.valueOf(rule.getMessage());
        }
        if (problem instanceof MismatchedInputException mismatch && mismatch.getTargetType() != null) {
            return "must be " + described(mismatch.getTargetType());
        }
        if (problem.getCause() instanceof InputCoercionException number) {
            return "must be " + described(number.getTargetType());
        }
        return "cannot be read: " + abbreviated(String.valueOf(problem.getMessage()));
    }

    private static String described(Class<?> type) {
        if (type.isEnum()) {
            return "one of " + MAPPER.valueToTree(type.getEnumConstants());
        }
        if (type == Integer.class || type == Long.class || type == int.class || type == long.class) {
            return "a whole number that is not too large";
        }
        if (type == Boolean.class) {
            return "true or false";
        }
        if (type == String.class) {
            return "a text";
        }
        return List.class.isAssignableFrom(type) ? "a list" : "an object";
    }

    private static String abbreviated(String text) {
        return text.length() <= MAX_VALUE_LENGTH ? text : text.substring(0, MAX_VALUE_LENGTH) + "...";
    }
}
