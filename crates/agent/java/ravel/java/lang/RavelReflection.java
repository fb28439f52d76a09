package java.lang;

/** Keeps the fields that the agent adds out of reflection. */
public final class RavelReflection {
    private RavelReflection() {}

    public static java.lang.reflect.Field[] visible(java.lang.reflect.Field[] fields) {
        int hidden = 0;
        for (int i = 0; i < fields.length; i++) if (fields[i].getName().startsWith("ravel$")) hidden++;
        if (hidden == 0) return fields;
        java.lang.reflect.Field[] rest = new java.lang.reflect.Field[fields.length - hidden];
        int n = 0;
        for (int i = 0; i < fields.length; i++) if (!fields[i].getName().startsWith("ravel$")) rest[n++] = fields[i];
        return rest;
    }
}
